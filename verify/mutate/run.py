#!/usr/bin/env python3
"""Runs the mutants of a packed tree against its tests, on all cores; python 3.11 and nothing else is needed.

    run.py SLICE LOG [--seconds 480] [--seed 0] [--unseen LOG]... [--part 1/4] [--only model/run/] [--numbers FILE]
           [--again LOG]... [--jobs N] [--budget 30] [--cover FILE]

Each test runs once by itself, without a mutant, and says which mutants would have made a difference in it. Then each
mutant runs the tests that met it, shortest first and those before that have killed others of its file, until one fails. LOG gets a line for each as it is known:
number, killed or survived or unmet or open, by which test, how, seconds. A mutant has survived if all tests that met it
passed; `open` says that the budget (seconds of tests as they run without mutants) did not reach for all of them.
Mutants that stand in a log of --again are not run again, but for open ones. --seed draws another sample; of mutants that were
run in a log of --unseen, none is drawn.
"""
import argparse
import collections
import gzip
import hashlib
import multiprocessing
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MEMORY = 12 << 30
LONGEST = 30  # seconds of a test
SKIPPED = 77  # of a page whose commands this machine cannot run
Test = collections.namedtuple('Test', 'binary name seconds')


def limit(seconds, page):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # A page's commands are of another session, and go on when the page is killed. Of a gtest the clock alone decides: the
    # processor time of its sixteen threads is no sign that it hangs.
    if page:
        resource.setrlimit(resource.RLIMIT_CPU, (2 * int(seconds) + 2,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setsid()


def command(binary, names):
    """Of gtests by their names, of a case of a page of commands, or of a page for readers."""
    if binary.endswith('.md'):
        room = next(p for p in pathlib.Path(binary).parents if p.name in ('pages', 'whole'))
        folder, case = room.parent, names if room.name == 'pages' else []
        nvcc = shutil.which('nvcc') or folder / 'no/nvcc'
        return [sys.executable, '-I', folder / 'run_page.py', binary, folder / 'source', folder, nvcc, *case]
    return [binary, '--gtest_filter=' + ':'.join(names), '--gtest_fail_fast', '--gtest_brief=0']


def run(binary, names, seconds, **environment):
    """(0 passed, 1 failed, 2 died, 3 out of time, 4 skipped; the first that failed)"""
    scratch = scratch_folder()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command(binary, names), stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                   preexec_fn=lambda: limit(seconds, binary.endswith('.md')), cwd=scratch,
                                   env={'PATH': os.environ['PATH'], 'TEST_TMPDIR': scratch, 'TMPDIR': scratch,
                                        'RC_PARAMS': 'seed=1', **environment})
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it has started
        except ProcessLookupError:
            pass
        process.wait()
        if code == 0:
            return 0, None
        out.seek(0)
        last = None
        for line in out:
            if line.startswith(b'[ RUN      ] '):
                last = line[13:].strip().decode()
            elif line.startswith(b'[  FAILED  ] '):
                break
        return (3 if code is None else 1 if code == 1 else 4 if code == SKIPPED else 2), last or names[0]


_scratch = None


def scratch_folder():
    global _scratch
    if _scratch is None:
        _scratch = tempfile.mkdtemp(prefix='bitwell_mutants_')
    return _scratch


def listed(binary):
    if '/whole/' in binary:
        return ['whole']
    if binary.endswith('.md'):
        titles = [line[3:] for line in pathlib.Path(binary).read_text().splitlines() if line.startswith('## ')]
        return [re.sub('[^a-z0-9]+', '_', title.lower()).strip('_') for title in titles]
    text = subprocess.run([binary, '--gtest_list_tests'], capture_output=True, text=True, check=True).stdout
    suite, out = '', []
    for line in text.splitlines():
        if line.startswith('Running'):
            continue
        name = line.split('#')[0].rstrip()
        if name.startswith('  '):
            out.append(suite + name.strip())
        else:
            suite = name
    return [n for n in out if 'DISABLED' not in n]


def cover(job):
    """(binary, name, seconds, the mutants that it met) or why it is left out."""
    binary, name = job
    with tempfile.NamedTemporaryFile(prefix='bitwell_met_') as met:
        start = time.monotonic()
        code, _ = run(binary, [name], LONGEST, BITWELL_MUTANTS_MET=met.name)
        seconds = time.monotonic() - start
        if code != 0:
            return binary, name, seconds, ['', 'fails', 'dies', 'takes too long', 'is skipped'][code]
        return binary, name, seconds, [int(line) for line in pathlib.Path(met.name).read_text().split()]


def batches(tests):
    """In this order; tests of one binary in one process, while they are short."""
    open_groups, out = {}, []
    for t in tests:
        group = open_groups.get(t.binary)
        if group is None or t.binary.endswith('.md') or sum(x.seconds for x in group) + t.seconds > 0.3 or len(group) >= 8:
            group = open_groups[t.binary] = []
            out.append(group)
        group.append(t)
    return out


def judge(job):
    number, tests, budget = job
    start = time.monotonic()
    spent = 0.0
    for group in batches(tests):
        cost = sum(t.seconds for t in group)
        if spent and spent + cost > budget:
            return number, 'open', '-', '-', time.monotonic() - start
        spent += cost
        code, name = run(group[0].binary, [t.name for t in group], 3 + 8 * cost, BITWELL_MUTANT=str(number))
        if code != 0:
            how = ['', 'fails', 'dies', 'out of time', 'skips'][code]
            return number, 'killed', f'{os.path.basename(group[0].binary)}/{name}', how, time.monotonic() - start
    return number, 'survived', '-', str(len(tests)), time.monotonic() - start


def verdicts(log):
    """(number, verdict) of each mutant in a log."""
    fields = (line.split('\t') for line in log.read_text().splitlines())
    return [(int(f[0]), f[1]) for f in fields if f[0].isdigit()]


def drawn(seed, number):
    """The place of a mutant in the order of a seed."""
    return hashlib.blake2b(f'{seed}/{number}'.encode(), digest_size=8).digest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('slice', type=pathlib.Path)
    parser.add_argument('log', type=pathlib.Path)
    parser.add_argument('--seconds', type=float, default=480)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--unseen', type=pathlib.Path, action='append', default=[])
    parser.add_argument('--part', default='1/1')
    parser.add_argument('--only', action='append')
    parser.add_argument('--numbers', type=pathlib.Path, help='of the mutants to run, a line for each')
    parser.add_argument('--again', type=pathlib.Path, action='append', default=[])
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--cover', type=pathlib.Path, help='to write which mutants each test meets, as .tsv.gz')
    parser.add_argument('--budget', type=float, default=30)
    a = parser.parse_args()
    end = time.monotonic() + a.seconds
    # The tests know where their files are by the path of the tree that they were built in.
    tree = pathlib.Path((a.slice / 'tree.txt').read_text().strip())
    if not tree.exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        tree.symlink_to((a.slice / 'source').resolve())
    rows = [line.split('\t') for line in (a.slice / 'mutants.tsv').read_text().splitlines()]
    part, parts = map(int, a.part.split('/'))
    numbers = {int(line) for line in a.numbers.read_text().split()} if a.numbers else None
    done = {n for log in a.again for n, verdict in verdicts(log) if verdict != 'open'}
    seen = {n for log in a.unseen for n, verdict in verdicts(log) if verdict != 'unmet'}
    chosen = [int(r[0]) for i, r in enumerate(rows)
              if i % parts == part - 1 and int(r[0]) not in done and (numbers is None or int(r[0]) in numbers)
              and (not a.only or any(r[1].startswith(o) for o in a.only))]
    binaries = sorted(str(p.resolve()) for p in (a.slice / 'bin').iterdir() if p.name.endswith('_test'))
    pages = sorted(str(p.resolve()) for room in ('pages', 'whole') for p in (a.slice / room).rglob('*.md'))
    with multiprocessing.Pool(a.jobs) as pool, open(a.log, 'w', buffering=1) as log, gzip.open(a.cover or os.devnull, 'wt', 1) as cover_log:
        tests_of = sorted(((b, listed(b)) for b in pages + binaries), key=lambda b: len(b[1]))  # where there are few, they are long
        jobs = [(b, n) for b, names in tests_of for n in names]
        covered = pool.imap_unordered(cover, jobs)
        by_mutant = collections.defaultdict(list)
        count, total = 0, 0.0
        for binary, name, seconds, met in covered:
            if isinstance(met, str):
                print('#left out', os.path.basename(binary), name, met, sep='\t', file=log)
                continue
            count, total = count + 1, total + seconds
            if a.cover:
                print(os.path.basename(binary), name, f'{seconds:.2f}', *met, sep='\t', file=cover_log)
            for number in met:
                by_mutant[number].append(Test(binary, name, seconds))
        print('#tests', count, f'{total:.0f} s', f'{time.monotonic() - end + a.seconds:.0f} s', sep='\t', file=log)
        todo = []
        for number in chosen:
            if number in by_mutant and number not in seen:
                todo.append((number, by_mutant[number], a.budget))
            elif number not in by_mutant:
                print(number, 'unmet', '-', '-', '0', sep='\t', file=log)
        # An even sample, should time run out.
        todo.sort(key=lambda t: drawn(a.seed, t[0]))
        print('#mutants', len(chosen), len(todo), sep='\t', file=log)
        files = {int(r[0]): r[1] for r in rows}
        kills = collections.Counter()  # of mutants of a file, by a test: such tests come first
        waiting = collections.deque()
        left = iter(todo)
        stopped = 0
        while True:
            while len(waiting) < 2 * a.jobs and time.monotonic() < end - 20:
                job = next(left, None)
                if job is None:
                    break
                number, tests, budget = job
                tests.sort(key=lambda t: t.seconds / (1 + 8 * kills[files[number], t.name]))
                waiting.append(pool.apply_async(judge, ((number, tests, budget),)))
            if not waiting:
                break
            for w in [w for w in waiting if w.ready()]:
                waiting.remove(w)
                number, verdict, test, how, seconds = w.get()
                kills[files[number], test.split('/', 1)[-1]] += 1
                print(number, verdict, test, how, f'{seconds:.1f}', sep='\t', file=log)
            if time.monotonic() > end:
                stopped = len(waiting)
                break
            time.sleep(0.01)
        print('#end', f'{time.monotonic() - end + a.seconds:.0f} s', f'{stopped} cut short', sep='\t', file=log)
        pool.terminate()


if __name__ == '__main__':
    main()
