"""What a client leaves to the one that comes in its place when its server dies."""

from tests.support.fake_server import URI, on_stage, text_document


async def test_what_had_its_verdict_is_left_and_what_was_being_looked_at_is_not():
    async with on_stage() as stage:
        await stage.verdict("x = 1", [])
        assert stage.client.idle_documents == (text_document("x = 1"),)
        task = stage.diagnose("x = 2")
        await stage.changed()
        assert stage.client.idle_documents == ()
        task.cancel()


async def test_reopening_sends_the_text_and_asks_nothing():
    async with on_stage() as stage:
        await stage.client.reopen([text_document("x = 1")])
        params = await stage.server.expect_params("textDocument/didOpen")
        assert (params["textDocument"]["uri"], params["textDocument"]["text"]) == (URI, "x = 1")
        await stage.server.expect_nothing()
