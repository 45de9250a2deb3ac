"""The command line: ``python -m app …``, or ``bridgenote …`` once installed.

Exit status: 0 success; 1 failure, for example when the database cannot be reached; 2 wrong usage, with the name of the
option or setting. A command that uses the database migrates it first if needed, so every command works on an empty
data folder. Commands may run while the server runs. A command's module is imported only when it runs, so that
``--help`` is fast.
"""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from app import __version__

_COMMANDS = {
    "backup": ("app.commands.backup.command", "Write the whole database to a file, while the service runs."),
    "create-account": ("app.commands.people", "Create a confirmed account; prints its id."),
    "doctor": ("app.commands.doctor.examination", "Check what the service stands on, and say what to do."),
    "erase-user": ("app.commands.people", "Erase a person; what they decided stays, without a name."),
    "import-items": (
        "app.commands.import_items",
        "Import published fact-checks from a file of any form and size.",
    ),
    "match-claims": (
        "app.commands.texts",
        "Match texts with fact-checked claims, one JSON object a line.",
    ),
    "mcp": ("app.commands.mcp.command", "Let an assistant read the queue, items, statuses and figures."),
    "migrate": ("app.commands.running", "Bring the database to the version of this code."),
    "mint-key": ("app.commands.community", "Create an API key; the last line of the output is the key."),
    "move-to": ("app.commands.backup.command", "Copy the SQLite database into an empty PostgreSQL database."),
    "replay-deliveries": ("app.commands.community", "Send a community's webhook deliveries again."),
    "restore": ("app.commands.backup.command", "Put a backup in the place of the database."),
    "rotate-encryption-key": (
        "app.commands.rotate_encryption_key",
        "Seal every stored secret anew with another key.",
    ),
    "score-texts": ("app.commands.texts", "Score texts from standard input, one JSON object a line."),
    "seed": ("app.commands.running", "Fill an empty database, with --demo with a whole community."),
    "serve": ("app.commands.running", "Migrate, then serve the API and the dashboard."),
    "set-category": ("app.commands.community", "Set a category's thresholds and actions in a community."),
    "settings": ("app.commands.settings", "Show every setting: name, value, default, meaning."),
    "reset-sign-in": ("app.commands.people", "Remove the passkeys and codes of a person who lost them."),
    "sign-in-link": ("app.commands.people", "Print a link that signs a service admin in once."),
    "simulate": ("app.demo.simulate.command", "Play an integration and its raters against a running server."),
    "submit": ("app.commands.submit", "Submit a file of posts, or only observe what would have been done."),
    "verify-draw": (
        "app.commands.verify",
        "Repeat the draw of a panel that has ended; exits with 1 if it differs.",
    ),
    "verify-history": (
        "app.commands.verify",
        "Walk every history; exits with 1 when one was altered.",
    ),
    "worker": ("app.commands.running", "Run jobs and deliveries without serving."),
}
"""By command name: its module, and its summary in --help."""
_OPTION_OF = {
    "platform_community_server_id": "community",
    "tier1_action": "tier1-action",
    "tier2_action": "tier2-action",
}


class Commands(click.Group):
    """Our commands. Errors of all commands become a sentence and an exit status here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list of --help without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        # What a command writes may hold keys or what people wrote: its files are for the user who runs it alone.
        before = os.umask(0o077)
        try:
            with _explained():
                return super().invoke(ctx)
        finally:
            os.umask(before)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        raise _explain(error) from error


def _explain(error: Exception) -> Exception:
    """Convert an expected error to click's, with one sentence. Unexpected errors are returned unchanged."""
    import pydantic
    import sqlalchemy.exc as sa_exc

    from app.core import errors

    if isinstance(error, pydantic.ValidationError):
        return click.UsageError("\n".join(_setting_problem(problem) for problem in error.errors()))
    if isinstance(error, errors.Invalid):
        return click.UsageError("; ".join(f"{_option(p.loc)} {p.msg}" for p in error.problems))
    if isinstance(error, errors.Refused):
        return click.ClickException(error.detail)
    if isinstance(error, sa_exc.DBAPIError | sa_exc.TimeoutError):
        cause = str(getattr(error, "orig", None) or error).strip()
        return click.ClickException(f"The database cannot be used: {cause}")
    if isinstance(error, sa_exc.NoSuchModuleError):
        return click.UsageError(
            "BRIDGENOTE_DATABASE_URL names no database we know: sqlite:// or postgresql://"
        )
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return click.ClickException(f"{where}{error.strerror or error}")
    # This is ``runtime.BadSetting``, a setting with a syntax error; importing that module would be slow.
    if isinstance(error, ValueError) and hasattr(error, "why"):
        return click.UsageError(f"BRIDGENOTE_{str(getattr(error, 'name', '')).upper()}: {error.why}")
    return error


def _option(loc: Sequence[str | int]) -> str:
    name = str(loc[0]) if loc else ""
    if name == "file":
        return "FILE"  # always an argument, not an option
    return f"--{_OPTION_OF.get(name, name.replace('_', '-'))}"


def _setting_problem(problem: Any) -> str:
    message = str(problem["msg"]).removeprefix("Value error, ")
    # Do not show the input: it may be a secret.
    return f"BRIDGENOTE_{str(problem['loc'][0]).upper()}: {message}" if problem["loc"] else message


def _version(ctx: click.Context, _option: click.Parameter, is_set: bool) -> None:
    if is_set:
        click.echo(f"bridgenote {__version__}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Bridgenote: content scoring, community review and bridging decisions.

    Settings come from the environment (BRIDGENOTE_…) or a .env file; see `settings`.
    """


def main() -> None:
    """Run the command line and exit."""
    # Set before NumPy is imported: we have our own threads, and OpenBLAS threads would compete with them for the cores.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # PostgreSQL's own variable: its lists of connections, and who waits for one, then name the command.
    command = next((word for word in sys.argv[1:] if word in _COMMANDS), "")
    os.environ.setdefault("PGAPPNAME", f"bridgenote {command}".strip())
    cli.main(prog_name="bridgenote" if "__main__" not in sys.argv[0] else "python -m app")
