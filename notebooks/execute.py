"""Runs notebooks: execute.py [--write] [NOTEBOOK ...]. --write runs them in a Jupyter kernel each and keeps the outputs in the files;
otherwise they are only run, as CI does. Exit status 77 (skipped) where what runs them is missing."""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def kept(path):
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(HERE)}})
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        return str(error)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(notebook, path)
    return None


def ran(path):
    """In a process of its own, as clean as a new kernel but for the libraries that are imported already: of seven notebooks that is
    most of the time. The figures that a cell leaves are drawn, and what cannot be drawn fails."""
    import json

    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.chdir(HERE)
            shell = InteractiveShell.instance()
            for cell in cells:
                shell.run_cell("".join(cell["source"])).raise_error()
                for number in pyplot.get_fignums():
                    pyplot.figure(number).canvas.draw()
                pyplot.close("all")
            status = 0
        except BaseException as error:
            print(repr(error))
        finally:
            sys.stdout.flush()
            os._exit(status)
    return None if os.waitpid(child, 0)[1] == 0 else "a cell raised what stands above"


def main(arguments):
    global InteractiveShell, pyplot
    write = "--write" in arguments
    try:
        import matplotlib
        import nbclient  # noqa: F401
        from IPython.core.interactiveshell import InteractiveShell
        from matplotlib import pyplot
    except ImportError as missing:
        print("skipped:", missing)
        return 77
    if not write:
        matplotlib.use("agg")
    names = [a for a in arguments if a != "--write"] or sorted(p.name for p in HERE.glob("*.ipynb"))
    for name in names:
        path = HERE / pathlib.Path(name).name
        error = (kept if write else ran)(path)
        if error:
            print(f"{path.name} FAILS\n{error}")
            return 1
        print(path.name, "ran", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
