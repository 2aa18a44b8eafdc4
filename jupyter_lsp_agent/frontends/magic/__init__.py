"""`%lsp_check`: the verdict where one works, inside a kernel."""
