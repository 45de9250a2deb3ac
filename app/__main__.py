"""``python -m app`` runs the command line."""

from app.commands.main import main

if __name__ == "__main__":
    main()
