"""Whose sessions a request may see.

With one shared token or password, jupyter_server gives everybody who knows it a new random name, without a cookie at
each request; all of them are one user to it, and to us. Where the identity is a real one (JupyterHub, a provider of the
site's own), its user name is the name space.
"""

from jupyter_server.auth.identity import IdentityProvider, User

SHARED = ""
"""The name space of all who hold the one token or password."""

_WHO_SAYS_WHO = (
    "get_user",
    "_get_user",
    "get_user_token",
    "get_user_cookie",
    "generate_anonymous_user",
    "process_login_form",
)
_OWN_MODULE = IdentityProvider.__module__


def name_space(provider: IdentityProvider, user: User) -> str:
    """The name space of a user whom `provider` authenticated."""
    methods = (getattr(type(provider), name, None) for name in _WHO_SAYS_WHO)
    if all(getattr(method, "__module__", None) == _OWN_MODULE for method in methods):
        return SHARED
    return user.username
