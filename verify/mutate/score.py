#!/usr/bin/env python3
"""The score of one run or several, by folder, and what survived.

    score.py MUTANTS.tsv LOG... [--survivors survivors.txt] [--list]

Of a mutant that stands in several logs the last counts, but that a kill stays one. --list prints, as lines of
survivors.txt without a reason, what has none. Exit status 1: a line of survivors.txt stands for a mutant that was killed.

A log names every mutant that no test meets, and of the others as many as there was time for. So the score weighs: the
share that is met, times the share killed of those that were run. After a whole run it is killed / (mutants - equivalent).
"""
import argparse
import collections
import pathlib
import sys

COLUMNS = ['mutants', 'unmet', 'run', 'killed', 'survived', 'open', 'equivalent', 'gap', 'score']


def score(c):
    """Of one folder, in tenths of a percent, rounded down; None where no mutant that some test meets was judged."""
    judged = c['killed'] + c['survived'] + c['gap met']
    if not judged:
        return None
    equivalent = c['equivalent'] - c['equivalent unmet']
    met = c['mutants'] - c['unmet'] - c['gap unmet'] - c['equivalent unmet']
    of_those = met * judged / (judged + equivalent)  # met and not equivalent, as the sample has it
    return int(1000 * (of_those * c['killed'] / judged) / (of_those + c['unmet'] + c['gap unmet'])) / 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('mutants', type=pathlib.Path)
    parser.add_argument('logs', type=pathlib.Path, nargs='+')
    parser.add_argument('--survivors', type=pathlib.Path, default=pathlib.Path(__file__).parent / 'survivors.txt')
    parser.add_argument('--list', action='store_true')
    a = parser.parse_args()
    verdicts = {}
    for log in a.logs:
        for line in log.read_text().splitlines():
            fields = line.split('\t')
            if fields[0].isdigit() and verdicts.get(int(fields[0]), [''])[0] != 'killed':
                verdicts[int(fields[0])] = fields[1:]
    known = {}
    for line in a.survivors.read_text().splitlines():
        if line and not line.startswith('#'):
            kind, file, change, text, reason = line.split('\t')
            known[file, change, text] = kind
    counts = collections.defaultdict(collections.Counter)
    seen, stale, missed = collections.Counter(), [], []
    for line in a.mutants.read_text().splitlines():
        number, file, row, change, text = line.split('\t')
        place = file, change, text
        seen[place] += 1
        if seen[place] > 1:  # of several alike in a file, the second on are told apart by their number
            place = file, change, f'{text} #{seen[place]}'
        count = counts[file.rsplit('/', 1)[0]]
        count['mutants'] += 1
        verdict = verdicts.get(int(number), ['not run'])[0]
        if verdict == 'not run':
            continue
        count['run'] += verdict != 'unmet'
        if place in known and verdict == 'killed':
            stale.append(place)
        if place in known and verdict in ('survived', 'unmet', 'open'):
            count[known[place]] += 1
            count[f'{known[place]} {"unmet" if verdict == "unmet" else "met"}'] += 1
            continue
        count[verdict] += 1
        if verdict in ('survived', 'unmet'):
            missed.append((verdict, file, row, change, place[2]))
    counts['all'] = sum(counts.values(), collections.Counter())
    print('| folder | ' + ' | '.join(COLUMNS) + ' |\n|' + '---|' * (len(COLUMNS) + 1))
    for folder, c in counts.items():
        percent = score(c)
        if percent is not None:
            print(f'| {folder} | ' + ' | '.join(f'{c[k]:,}' for k in COLUMNS[:-1]) + f' | {percent} % |')
    if a.list:
        for verdict, file, row, change, text in missed:
            print(verdict, file, change, text, f'line {row}', sep='\t')
    for place in stale:
        print('stale:', *place, sep='\t', file=sys.stderr)
    sys.exit(1 if stale else 0)


if __name__ == '__main__':
    main()
