"""A launch with its memory as a launch file, which `bitwell run` replays."""
import hashlib
import pathlib
import shlex

MOST_NAME = 100  # characters of a folder's name


def folder_name(name):
    """One that every file system takes, and no other name has."""
    return name if len(name) <= MOST_NAME else f"{name[:MOST_NAME - 17]}.{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def replay_command(path, verdict, *, races=False, schedules=1, strict=False, schedule="", seed=0, step_limit=0, checked=True, **_):
    """The command that comes to the verdict again (held, fault, race, order), with the words of `bitwell run`."""
    words = ["bitwell", "run", str(path)]
    if verdict == "order":  # which compares with the default order, whatever the first one was
        words += ["--schedules", str(schedules + 1 if schedule else schedules)]
    else:
        if races:
            words.append("--races")
        if schedule not in ("", "lazy"):
            words += ["--schedule", schedule]
        if seed and schedule.startswith(("random", "pct")):
            words += ["--seed", str(seed)]
    if strict:
        words.append("--strict")
    if step_limit:
        words += ["--step-limit", str(step_limit)]
    if not checked:
        words.append("--unchecked")
    return shlex.join(words)


def write(folder, recording, outputs=(), all_written=False):
    """launch.json and its files in the folder; its path. OSError where that is not possible."""
    folder = pathlib.Path(folder)
    (folder / "out").mkdir(parents=True, exist_ok=True)
    text, files = recording.files("kernel.ptx", [tuple(o) for o in outputs], all_written)
    for name, data in files:
        (folder / name).write_bytes(data)
    path = folder / "launch.json"
    path.write_text(text)
    return path
