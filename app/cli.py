"""The command line: ``python -m app …``, or ``bridgenote …`` once installed.

Exit status: 0 done; 1 it failed, such as when the database cannot be reached; 2 it was asked for wrongly, naming the
option or the setting. A command that touches the database migrates it first when it is behind, so every command works
on an empty data folder; all of them may run while the server runs. What a command needs is imported inside it, for
``--help`` must not wait for the whole service.
"""

import contextlib
import importlib
import importlib.metadata
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from app.settings import Settings
    from app.wiring import Wiring

_ELSEWHERE = {
    "backup": ("app.backups.command", "Write the whole database to a file, while the service runs."),
    "create-account": ("app.commands.provision", "Create a confirmed account; prints its id."),
    "erase-user": ("app.commands.erasing", "Erase a person; what they decided stays, without a name."),
    "import-items": ("app.commands.importing", "Import published fact-checks from a JSON Lines file."),
    "mint-key": ("app.commands.provision", "Create an API key; the last line of the output is the key."),
    "replay-deliveries": ("app.commands.replaying", "Send a community's webhook deliveries again."),
    "restore": ("app.backups.command", "Put a backup in the place of the database."),
    "rotate-encryption-key": ("app.commands.key_rotation", "Seal every stored secret anew with another key."),
    "set-category": ("app.commands.provision", "Set a category's thresholds and actions in a community."),
    "simulate": ("app.simulation.command", "Play an integration and its raters against a running server."),
    "simulate-consensus": ("app.consensus.command", "Measure how often votes act wrongly under attack."),
}
"""Commands that live in modules of their own, imported when asked for: module, and what --help says of it."""
_OPTION_OF = {
    "platform_community_server_id": "community",
    "tier1_action": "tier1-action",
    "tier2_action": "tier2-action",
}


class Commands(click.Group):
    """Our commands, and one place that turns what goes wrong into a sentence and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module, _ = _ELSEWHERE[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of --help, without importing any command."""
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        here = {name: command.get_short_help_str(width) for name, command in self.commands.items()}
        elsewhere = {name: summary for name, (_, summary) in _ELSEWHERE.items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted((here | elsewhere).items()))

    def invoke(self, ctx: click.Context) -> Any:
        with _explained():
            return super().invoke(ctx)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        raise _explain(error) from error


def _explain(error: Exception) -> Exception:
    """The error in one sentence, as click shows it; anything unforeseen stays what it is."""
    import pydantic
    import sqlalchemy.exc as sa_exc

    from app.core import errors

    if isinstance(error, pydantic.ValidationError):
        return click.UsageError("\n".join(_setting_problem(one) for one in error.errors()))
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
    # Settings with a grammar of their own; named by ``runtime.BadSetting``, which this avoids importing.
    if isinstance(error, ValueError) and hasattr(error, "why"):
        return click.UsageError(f"BRIDGENOTE_{str(getattr(error, 'name', '')).upper()}: {error.why}")
    return error


def _option(loc: Sequence[str | int]) -> str:
    name = str(loc[0]) if loc else ""
    if name == "file":
        return "FILE"  # an argument, wherever there is one
    return f"--{_OPTION_OF.get(name, name.replace('_', '-'))}"


def _setting_problem(problem: Any) -> str:
    message = str(problem["msg"]).removeprefix("Value error, ")
    # The input is left out: it may be a secret.
    return f"BRIDGENOTE_{str(problem['loc'][0]).upper()}: {message}" if problem["loc"] else message


def _installed_version() -> str:
    """The version of the installed package, or of the checkout we run in."""
    try:
        return importlib.metadata.version("bridgenote")
    except importlib.metadata.PackageNotFoundError:
        written = (Path(__file__).parents[1] / "pyproject.toml").read_text()
        return str(tomllib.loads(written)["project"]["version"])


def _version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"bridgenote {_installed_version()}")
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
    # Before anything imports NumPy: threads inside each of our threads only fight over the cores.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    cli.main(prog_name="bridgenote" if "__main__" not in sys.argv[0] else "python -m app")


# What commands share.


def _settings(**given: Any) -> "Settings":
    """The settings in force, with what was given on the command line on top, and the data folder made."""
    from app.process import logs, runtime

    settings = runtime.check(_read_settings(given))
    logs.configure("WARNING")
    return settings.ready()


def _read_settings(given: Mapping[str, Any]) -> "Settings":
    from app.settings import Settings

    return Settings(**{name: value for name, value in given.items() if value is not None})


@contextlib.contextmanager
def opened_wiring() -> Iterator["Wiring"]:
    """The service over a migrated database, for one command."""
    from app.process import runtime

    with runtime.opened(_settings()) as wiring:
        yield wiring


# Running it.


@cli.command()
@click.option("--host", metavar="ADDRESS", help="Instead of BRIDGENOTE_HOST.")
@click.option("--port", type=click.IntRange(1, 65535), help="Instead of BRIDGENOTE_PORT.")
@click.option(
    "--demo/--no-demo",
    default=False,
    help="Seed a demo community when the database is empty; show its sign-ins. Of several, the last one counts.",
)
def serve(host: str | None, port: int | None, demo: bool) -> None:
    """Migrate, then serve the API and the dashboard until Ctrl-C or SIGTERM.

    While there is no admin, it prints a link that creates the first one; it works once, for an hour.
    """
    from app.process import startup

    startup.serve(_settings(host=host, port=port), demo=demo)


@cli.command()
def worker() -> None:
    """Run jobs and deliveries without serving, until Ctrl-C or SIGTERM.

    For servers that run none themselves (BRIDGENOTE_JOBS_IN_PROCESS=false). Start as many as you like.
    """
    from app.process import startup

    startup.work(_settings())


@cli.command()
def migrate() -> None:
    """Bring the database to the version of this code."""
    from app.process import runtime

    click.echo(f"The database is at version {runtime.migrate(_settings())}.")


@cli.command()
@click.option("--demo", is_flag=True, help="A demonstration community with people and six weeks of content.")
def seed(demo: bool) -> None:
    """Fill an empty database; one that is not empty stays as it is. Without --demo: one community, still silent."""
    from app import seed as seeding
    from app.process import runtime, startup

    settings = _settings()
    if demo and not settings.is_demo_allowed:
        raise click.ClickException("Demo sign-ins exist only in development, on a loopback address")
    with runtime.opened(settings) as wiring:
        if demo:
            made = seeding.seed(wiring.database, wiring.classifiers, wiring.sealer, settings.data_dir)
            done = startup.demo_lines(made) if made is not None else ""
        else:
            with wiring.database.writing() as session:
                done = f"Opened community {seeding.FIRST}." if seeding.begin(session) else ""
    click.echo(done or "The database is not empty: nothing was done.")


# Looking after it.


@cli.command("verify-history")
def verify_history() -> None:
    """Walk every community's history; names the first entry that is not as it was written, and exits with 1."""
    from app.core.communities import communities
    from app.core.history import chain as history
    from app.core.permissions import SYSTEM

    broken = 0
    with opened_wiring() as wiring, wiring.database.reading() as session:
        for community in communities.visible(session, SYSTEM):
            where = f"{community.name} ({community.platform}/{community.platform_community_server_id})"
            held, fault = history.verify(session, community.id)
            if fault is None:
                click.echo(f"{where}: {held} entries, unbroken.")
                continue
            broken += 1
            click.echo(
                f"{where}: altered at entry {fault.number} (id {fault.entry_id}): {fault.why}. "
                f"{held} entries before it hold."
            )
    if broken:
        raise click.exceptions.Exit(1)


@cli.command()
@click.option("--markdown", is_flag=True, help="The table of the documentation: without values.")
def settings(markdown: bool) -> None:
    """Show every setting: name, value, default, meaning. Secrets are masked."""
    from app import settings_table

    if markdown:
        click.echo(settings_table.as_markdown(), nl=False)
        return
    settings_table.show(_read_settings({}))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="A JSON array instead of lines.")
def doctor(as_json: bool) -> None:
    """Check what the service stands on, and say what to do; exits with 1 when something is wrong.

    Each line is ok, warn (somebody should look) or fail.
    """
    import json
    from dataclasses import asdict

    from app import diagnosis

    findings = diagnosis.examine(_settings())
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for one in findings:
            click.echo(f"{one.state:<5} {one.what}: {one.detail}{f' → {one.advice}' if one.advice else ''}")
    if any(finding.state is diagnosis.State.FAIL for finding in findings):
        raise click.exceptions.Exit(1)
