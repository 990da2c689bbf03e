"""Runs notebooks from a clean kernel: execute.py [--write] [NOTEBOOK ...]. --write keeps the outputs in the files;
otherwise they are only run, as CI does. Exit status 77 (skipped) where nbclient or bitwell is missing."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main(arguments):
    try:
        import nbclient
        import nbformat
    except ImportError as missing:
        print("skipped:", missing)
        return 77
    write = "--write" in arguments
    names = [a for a in arguments if a != "--write"] or sorted(p.name for p in HERE.glob("*.ipynb"))
    for name in names:
        path = HERE / pathlib.Path(name).name
        notebook = nbformat.read(path, as_version=4)
        client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                                         resources={"metadata": {"path": str(HERE)}})
        try:
            client.execute()
        except nbclient.exceptions.CellExecutionError as error:
            print(f"{path.name} FAILS\n{error}")
            return 1
        print(path.name, "ran")
        if write:
            for cell in notebook.cells:
                cell.metadata.pop("execution", None)
            nbformat.write(notebook, path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
