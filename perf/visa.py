#!/usr/bin/env python3
"""How fast the compiler's vISA text of the eight kernels runs beside its Broxton binary: CPU time of a launch with one
worker, binary and texts in turns, median of the rounds. Usage: perf/visa.py [ROUNDS [KERNEL...]]   default: 5, all
$EUMULATE is the program, build/release/eumulate by default."""
import json, os, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
KERNELS = os.path.join(ROOT, 'tests/kernels')
M = 1 << 20
FLOATS = 'random:f32:%d:%d'
PLANE = [f'zeros:{4 * M}', 'i32:%d', 'f32:-2', 'f32:-1.25', f'f32:{2.5 / 1024}', f'f32:{2.5 / 1024}', 'i32:256']

# Sizes as in perf/kernels/given_rows.cpp.
WORK = {
    'arx': (M, [f'zeros:{4 * M}', 'u32:16909060', 'u32:3735928559', 'i32:10']),
    'bs': (M, [f'zeros:{4 * M}'] * 2 + [FLOATS % (M, k) for k in (1, 2, 3)] + ['f32:0.02', 'f32:0.3']),
    'hash': (M // 4, [f'random:u32:{1 << 16}:1', f'zeros:{M}', 'u32:2538058380']),
    'mandel': (M, [a % 1024 if '%d' in a else a for a in PLANE]),
    'mandel2': (M, [a % 10 if '%d' in a else a for a in PLANE]),
    'nbody': (6144, [FLOATS % (4 * 6144, 1), f'zeros:{16 * 6144}', 'i32:6144', 'f32:0.01']),
    'saxpy': (1 << 16, ['f32:2.5', FLOATS % (1 << 16, 1), FLOATS % (1 << 16, 2), f'i32:{1 << 16}']),
    'sgemm': ('512,512', ['i32:512', FLOATS % (1 << 18, 1), FLOATS % (1 << 18, 2), f'zeros:{4 << 18}']),
}


def measure(file, name, more):
    size, arguments = WORK[name]
    command = [os.environ.get('EUMULATE', os.path.join(ROOT, 'build/release/eumulate')), 'bench', file, '--kernel', name, '--global', str(size),
               '--threads', '1', '--samples', '3', '--seconds', '0.1', '--json'] + more
    for argument in arguments:
        command += ['--arg', argument]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f'{name}: {run.stderr.strip()}')
    return json.loads(run.stdout)


def cpu_of(report):
    return report['engines'][0]['cpu_seconds']['median']


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    names = sys.argv[2:] or list(WORK)
    print(f'{"kernel":10} {"binary":>10} {"bxt text":>10} {"pvc text":>10}')
    for name in names:
        contenders = {'binary': (f'{KERNELS}/bin/{name}.patch.bin', [])}
        for device in ('bxt', 'pvc'):
            contenders[device] = (f'{KERNELS}/visa/{name}.{name}.{device}.visaasm',
                                  ['--ze-info', f'{KERNELS}/visa/{name}.{device}.ze_info'])
        times = {key: [] for key in contenders}
        for _ in range(rounds):
            for key, (file, more) in contenders.items():
                times[key].append(cpu_of(measure(file, name, more)))
        ratios = [statistics.median(t / b for t, b in zip(times[key], times['binary'])) for key in ('bxt', 'pvc')]
        print(f'{name:10} {statistics.median(times["binary"]) * 1e3:8.3f}ms {ratios[0]:9.2f}x {ratios[1]:9.2f}x', flush=True)


main()
