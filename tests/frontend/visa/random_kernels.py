#!/usr/bin/env python3
"""Random vISA kernels for BXT, with the GEN that GenX_IR makes of each.
Usage: random_kernels.py DIR FIRST COUNT [INSTRUCTIONS]. Kernels that GenX_IR refuses are left out."""
import os, random, subprocess, sys

SIZE = {'ud': 4, 'd': 4, 'uw': 2, 'w': 2, 'ub': 1, 'b': 1, 'f': 4, 'hf': 2, 'uq': 8, 'q': 8, 'df': 8}
INTS = ['ud', 'd', 'uw', 'w', 'ub', 'b']
INPUTS, TEMPS, BYTES = 8, 12, 128

class Kernel:
    def __init__(self, seed, count):
        self.r = random.Random(seed)
        self.lines, self.declarations = [], []
        self.predicates = ['P%d' % (i + 1) for i in range(4)]
        self.labels = 0
        self.count = count
        self.loops = 0

    def emit(self, text): self.lines.append('    ' + text)

    def var(self, kind, index, t):
        return '%s%d_%s' % (kind, index, t)

    def source(self, t, size, modifiers=True, immediate=True, logic=False, kinds='TI'):
        r = self.r
        if immediate and r.random() < 0.15:
            if t in ('f', 'df', 'hf'):
                if t == 'f': return '0x%x:f' % r.choice([0x3f800000, 0xbf000000, 0x40490fdb, 0x7f7fffff, 0, 0x80000000, r.getrandbits(32)])
                if t == 'df': return '0x%x:df' % r.choice([0x3ff0000000000000, 0xc000000000000000, 0x3fe5555555555555])
                return '0x%x:hf' % r.choice([0x3c00, 0xb800, 0x4248])
            if t in ('ub', 'b'): t = 'u' + 'w' if t == 'ub' else 'w'
            bits = 8 * SIZE[t]
            value = r.choice([0, 1, 3, 0x1f, 0x80, (1 << bits) - 1, 1 << (bits - 1), r.getrandbits(bits)])
            return '0x%x:%s' % (value, t)
        kind, limit = ('T', TEMPS) if kinds != 'I' and r.random() < 0.7 else ('I', INPUTS)
        total = BYTES if kind == 'T' else 64
        index = r.randrange(limit)
        width = SIZE[t]
        choices = ['<0;1,0>']
        if size * width <= min(total, 64): choices += ['<1;1,0>'] * 5
        if size * width * 2 <= min(total, 64) and size > 1: choices += ['<2;1,0>', '<%d;%d,2>' % (min(size, 8) * 2, min(size, 8))]
        if size >= 8 and 2 * width <= 8: choices += ['<0;2,1>', '<1;2,0>']
        region = r.choice(choices)
        span = {'<0;1,0>': width, '<1;1,0>': size * width, '<0;2,1>': 2 * width, '<1;2,0>': size // 2 * width}.get(region, size * width * 2)
        offset = 0
        if region == '<0;1,0>': offset = r.randrange(total // width)
        elif span <= 32 and total > 32: offset = r.choice([0, 32 // width])
        row, column = offset * width // 32, offset % (32 // width)
        modifier = ''
        if modifiers and r.random() < 0.2:
            modifier = '(~)' if logic else r.choice(['(-)', '(abs)', '(-abs)'])
            if logic and t in ('f', 'hf', 'df'): modifier = ''
        return '%s%s(%d,%d)%s' % (modifier, self.var(kind, index, t), row, column, region)

    def destination(self, t, size):
        r = self.r
        width = SIZE[t]
        stride = 1
        if size * width * 2 <= 64 and r.random() < 0.15: stride = 2
        if size * width > 64: return None
        row = r.choice([0, 2]) if size * width * stride <= 64 else 0
        return '%s(%d,0)<%d>' % (self.var('T', r.randrange(TEMPS), t), row, stride)

    def exec(self, nomask=None):
        r = self.r
        size, where = r.choice([(16, 'M1')] * 6 + [(8, 'M1'), (8, 'M3'), (1, 'M1_NM'), (16, 'M1_NM'), (4, 'M1'), (2, 'M1_NM')])
        return size, '(%s, %d)' % (where, size)

    def guard(self, size):
        r = self.r
        if r.random() > 0.2: return ''
        return '(%s%s%s) ' % (r.choice(['', '!']), r.choice(self.predicates), r.choice(['', '', '', '.any', '.all']) if size == 16 else '')

    def arithmetic(self):
        r = self.r
        size, exec_ = self.exec()
        op = r.choice(['add', 'mul', 'mad', 'and', 'or', 'xor', 'not', 'shl', 'shr', 'asr', 'mov', 'min', 'max', 'avg', 'bfe', 'bfi', 'bfrev', 'cbit',
                       'fbh', 'fbl', 'lzd', 'mulh', 'addc', 'subb', 'frc', 'rndd', 'rndu', 'rnde', 'rndz', 'inv', 'sqrt', 'rsqrt', 'div', 'mod', 'sel',
                       'cmp', 'cmp', 'cmpd', 'setp', 'plogic', 'pmov', 'lrp', 'exp', 'log', 'vimm', 'indirect'])
        ints = r.choice([['ud', 'd']] * 3 + [['uw', 'w'], ['ub', 'b', 'uw', 'w', 'ud', 'd']])
        any_int = lambda: r.choice(ints)
        if op in ('mad', 'bfe', 'bfi', 'lrp') and size < 4: size, exec_ = 8, '(M1, 8)'
        guard = self.guard(size)
        if op in ('mad', 'bfe', 'bfi', 'lrp'): guard = guard.replace('.any', '').replace('.all', '')  # the finaliser loses these
        sat = '.sat' if r.random() < 0.12 else ''
        if op in ('min', 'max'): guard = ''
        if op in ('add', 'mul', 'min', 'max'):
            if r.random() < 0.45:
                t = r.choice(['f'] * 5 + ['df' if size <= 8 else 'f', 'hf'])
                d = self.destination(t, size)
                if d: self.emit('%s%s%s %s %s %s %s' % (guard, op, sat, exec_, d, self.source(t, size), self.source(t, size, immediate=(t != 'df'))))
                return
            sat = '' if op == 'mul' else sat  # and saturation of products
            if op != 'add': sat = ''
            d = self.destination(any_int(), size)
            if d: self.emit('%s%s%s %s %s %s %s' % (guard, op, sat, exec_, d, self.source(any_int(), size, immediate=False), self.source(any_int(), size)))
        elif op == 'mad':
            t = r.choice(['f', 'f', 'd', 'ud', 'w'])
            d = self.destination(t, size)
            if d: self.emit('%smad%s %s %s %s %s %s' % (guard, sat if t == 'f' else '', exec_, d, *[self.source(t, size, immediate=False) for _ in range(3)]))
        elif op in ('and', 'or', 'xor', 'not'):
            d = self.destination(any_int(), size)
            if d: self.emit('%s%s %s %s %s' % (guard, op, exec_, d, ' '.join(self.source(any_int(), size, logic=True, immediate=(k == 1)) for k in range(1 if op == 'not' else 2))))
        elif op in ('shl', 'shr', 'asr'):
            t = any_int()
            if op == 'shr': t = 'u' + t.lstrip('u')
            if op == 'asr': t = t.lstrip('u')
            if t in ('b', 'ub'): t = 'w'
            if op == 'shr': t = {'w': 'uw', 'd': 'ud'}.get(t, t)
            d = self.destination(t, size)
            if d: self.emit('%s%s %s %s %s %s' % (guard, op, exec_, d, self.source(t, size, modifiers=False, immediate=False), '0x%x:uw' % r.randrange(33) if r.random() < .5 else self.source('ud' if t not in ('w', 'uw') else 'uw', size, modifiers=False)))
        elif op == 'mov':
            a, b = r.choice(list(SIZE)), r.choice(list(SIZE))
            if 'q' in (a[-1], b[-1]) or 'df' in (a, b):
                if size > 8: size, exec_ = 8, '(M1, 8)'
                if guard and '.' in guard: guard = ''
            if {'hf', 'df'} == {a, b} or ('q' in a + b and 'hf' in (a, b)): return
            if a in ('ub', 'b') and SIZE[b] == 8 or b in ('ub', 'b') and SIZE[a] == 8: return
            d = self.destination(a, size)
            if a in ('f', 'hf', 'df') or r.random() < .5: sat = sat if b not in ('q', 'uq') and a not in ('q', 'uq') else ''
            if d: self.emit('%smov%s %s %s %s' % (guard, sat, exec_, d, self.source(b, size, immediate=(SIZE[b] < 8), modifiers=(SIZE[b] < 8 and (SIZE[a] < 8 or b[0] != 'u')))))
        elif op == 'avg':
            t = any_int()
            d = self.destination(t, size)
            if d: self.emit('%savg %s %s %s %s' % (guard, exec_, d, self.source(any_int(), size, immediate=False), self.source(any_int(), size)))
        elif op in ('bfe', 'bfi'):
            t = r.choice(['ud', 'd'])
            d = self.destination(t, size)
            if d:
                width, place = r.randrange(1, 20), r.randrange(0, 12)
                head = '0x%x:%s 0x%x:%s' % (width, t, place, t) if r.random() < .5 else '%s %s' % (self.source(t, size, modifiers=False, immediate=False), self.source(t, size, modifiers=False, immediate=False))
                rest = ' '.join(self.source(t, size, modifiers=False, immediate=False) for _ in range(1 if op == 'bfe' else 2))
                self.emit('%s%s %s %s %s %s' % (guard, op, exec_, d, head, rest))
        elif op in ('bfrev', 'cbit', 'fbh', 'fbl', 'lzd'):
            t = 'ud' if op != 'fbh' else r.choice(['ud', 'd'])
            d = self.destination('ud', size)
            if d: self.emit('%s%s %s %s %s' % (guard, op, exec_, d, self.source(t, size, modifiers=False, immediate=False)))
        elif op == 'mulh':
            t = r.choice(['ud', 'd'])
            d = self.destination(t, size)
            if d: self.emit('mulh %s %s %s %s' % (exec_, d, self.source(t, size, immediate=False, modifiers=False, kinds='I'), self.source(t, size, immediate=False, modifiers=False, kinds='I')))
        elif op == 'madw':
            if size not in (8, 16): return
            t = r.choice(['ud', 'd'])
            self.emit('madw %s %s(0,0)<1> %s %s %s' % (exec_, self.var('T', r.randrange(TEMPS), t), self.source(t, size, immediate=False, modifiers=False), self.source(t, size, immediate=False, modifiers=False), self.source(t, size, immediate=False, modifiers=False)))
        elif op in ('addc', 'subb'):
            a, b = r.sample(range(TEMPS), 2)
            if size > 16 or size < 8: return
            self.emit('%s %s %s(0,0)<1> %s(0,0)<1> %s %s' % (op, exec_, self.var('T', a, 'ud'), self.var('T', b, 'ud'), self.source('ud', size, immediate=False, modifiers=False, kinds='I'), self.source('ud', size, modifiers=False, kinds='I')))
        elif op in ('frc', 'rndd', 'rndu', 'rnde', 'rndz', 'inv', 'sqrt', 'rsqrt', 'exp', 'log'):
            d = self.destination('f', size)
            if d: self.emit('%s%s%s %s %s %s' % (guard, op, '' if op == 'frc' else sat, exec_, d, self.source('f', size, immediate=False)))
        elif op in ('div', 'mod'):
            t = r.choice(['ud', 'd'] + (['f'] if op == 'div' else []))
            d = self.destination(t, size)
            if d: self.emit('%s%s %s %s %s %s' % (guard, op, exec_, d, self.source(t, size, immediate=False, modifiers=False), self.source(t, size, immediate=False, modifiers=False)))
        elif op == 'sel':
            t = r.choice(['f', 'ud', 'd', 'w', 'uw'])
            d = self.destination(t, size)
            if d: self.emit('(%s%s) sel %s %s %s %s' % (r.choice(['', '!']), r.choice(self.predicates), exec_, d, self.source(t, size, immediate=False), self.source(t, size)))
        elif op in ('cmp', 'cmpd'):
            t = r.choice(['f', 'f', 'ud', 'd', 'w', 'uw', 'hf'])
            condition = r.choice(['eq', 'ne', 'gt', 'ge', 'lt', 'le'])
            if op == 'cmp': d = r.choice(self.predicates)
            else:
                d = self.destination({'f': 'd', 'hf': 'w'}.get(t, t), size)
            if d: self.emit('cmp.%s %s %s %s %s' % (condition, exec_, d, self.source(t, size, immediate=False), self.source(t, size)))
        elif op == 'setp':
            self.emit('setp (M1_NM, 16) %s 0x%x:uw' % (r.choice(self.predicates), r.getrandbits(16)))
        elif op == 'plogic':
            name = r.choice(['and', 'or', 'xor', 'not'])
            self.emit('%s (M1, 16) %s' % (name, ' '.join(r.choice(self.predicates) for _ in range(2 if name == 'not' else 3))))
        elif op == 'pmov':
            self.emit('mov (M1_NM, 1) %s(0,%d)<1> %s' % (self.var('T', r.randrange(TEMPS), 'uw'), r.randrange(16), r.choice(self.predicates)))
        elif op == 'lrp':
            d = self.destination('f', size)
            if d and size >= 8: self.emit('%slrp %s %s %s %s %s' % (guard, exec_, d, *[self.source('f', size, immediate=False) for _ in range(3)]))
        elif op == 'vimm':
            name = r.choice(['0x%x:v', '0x%x:uv'])
            t = 'w' if name.endswith(':v') else 'uw'
            self.emit('mov (M1, 8) %s(0,0)<1> %s' % (self.var('T', r.randrange(TEMPS), t), name % r.getrandbits(32)))
        elif op == 'indirect':
            t = r.choice(['ud', 'f', 'uw', 'd'])
            which = r.randrange(TEMPS)
            column = r.randrange(0, 8)
            self.emit('addr_add (M1_NM, 1) A0(0)<1> &%s 0x%x:uw' % (self.var('T', which, 'ud'), column * 4))
            if r.random() < .6:
                d = self.destination(t, 8)
                self.emit('mov (M1, 8) %s r[A0(0),%d]<1;1,0>:%s' % (d, r.choice([0, 4, 8]), t))
            else:
                self.emit('mov (M1, 8) r[A0(0),%d]<1>:%s %s' % (r.choice([0, 4, 8]), t, self.source(t, 8, immediate=False, modifiers=False)))

    def body(self, count, depth):
        r = self.r
        while count > 0:
            if depth < 3 and r.random() < 0.12:
                inner = r.randrange(2, 8)
                label = self.labels
                self.labels += 2
                p = r.choice(self.predicates)
                shape = r.random()
                if shape < 0.45:      # if
                    self.emit('(%s%s) goto (M1, 16) L%d' % (r.choice(['', '!']), p, label))
                    self.block()
                    self.body(inner, depth + 1)
                    self.lines.append('L%d:' % label)
                elif shape < 0.8:     # if, else
                    self.emit('(%s) goto (M1, 16) L%d' % (p, label))
                    self.block()
                    self.body(inner, depth + 1)
                    self.emit('goto (M1, %d) L%d' % (r.choice([16, 1]), label + 1))
                    self.lines.append('L%d:' % label)
                    self.body(inner, depth + 1)
                    self.lines.append('L%d:' % (label + 1))
                elif self.loops < 4:  # loop that ends at different times
                    self.loops += 1
                    n = self.loops
                    self.emit('and (M1, 16) N%d(0,0)<1> %s 0x3:uw' % (n, self.source('uw', 16, modifiers=False, immediate=False)))
                    self.lines.append('L%d:' % label)
                    self.body(inner, depth + 1)
                    if r.random() < .5:
                        self.emit('cmp.eq (M1, 16) PB%d N%d(0,0)<1;1,0> 0x2:uw' % (n, n))
                        self.emit('(PB%d) goto (M1, 16) L%d' % (n, label + 1))
                        self.block()
                    self.emit('cmp.gt (M1, 16) PL%d N%d(0,0)<1;1,0> 0x0:uw' % (n, n))
                    self.emit('add (M1, 16) N%d(0,0)<1> N%d(0,0)<1;1,0> 0xffff:w' % (n, n))
                    self.emit('(PL%d) goto (M1, 16) L%d' % (n, label))
                    self.lines.append('L%d:' % (label + 1))
                count -= inner
            else:
                self.arithmetic()
                count -= 1

    def block(self):
        self.lines.append('B%d:' % self.labels)
        self.labels += 1

    def text(self):
        out = ['.version 3.6', '.kernel "random"']
        for kind, limit, total in (('I', INPUTS, 64), ('T', TEMPS, BYTES)):
            for i in range(limit):
                out.append('.decl %s v_type=G type=ud num_elts=%d align=hword' % (self.var(kind, i, 'ud'), total // 4))
                for t in SIZE:
                    if t != 'ud':
                        out.append('.decl %s v_type=G type=%s num_elts=%d align=hword alias=<%s, 0>' % (self.var(kind, i, t), t, total // SIZE[t], self.var(kind, i, 'ud')))
        for n in range(1, 5):
            out.append('.decl N%d v_type=G type=uw num_elts=16 align=hword' % n)
        out.append('.decl A0 v_type=A num_elts=1')
        for p in self.predicates + ['PL%d' % n for n in range(1, 5)] + ['PB%d' % n for n in range(1, 5)]:
            out.append('.decl %s v_type=P num_elts=16' % p)
        out.append('.decl T6 v_type=T num_elts=1 v_name=T006')
        for i in range(INPUTS):
            out.append('.input %s offset=%d size=64' % (self.var('I', i, 'ud'), 32 + 64 * i))
        out += ['.kernel_attr Target="3d"', '.kernel_attr SimdSize=16', '.function "random_main"', 'random_main:']
        for i in range(TEMPS):
            for half in (0, 2):
                self.emit('mov (M1_NM, 16) %s(%d,0)<1> %s(0,0)<1;1,0>' % (self.var('T', i, 'ud'), half, self.var('I', (i + half) % INPUTS, 'ud')))
        for i, p in enumerate(self.predicates):
            self.emit('setp (M1_NM, 16) %s 0x%x:uw' % (p, self.r.getrandbits(16)))
        self.body(self.count, 0)
        self.emit('movs (M1_NM, 1) T6(0) 0x3:ud')
        for i in range(TEMPS):
            self.emit('oword_st (8) T6 0x%x:ud %s.0' % (8 * i, self.var('T', i, 'ud')))
        self.emit('ret (M1, 1)')
        return '\n'.join(out + self.lines) + '\n'

def main():
    where, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    length = int(sys.argv[4]) if len(sys.argv) > 4 else 60
    os.makedirs(where, exist_ok=True)
    made = 0
    for seed in range(first, first + count):
        name = 'random_%d' % seed
        text = Kernel(seed, length).text()
        with open('%s/%s.visaasm' % (where, name), 'w') as f: f.write(text)
        try:
            run = subprocess.run(['GenX_IR', name + '.visaasm', '-platform', 'BXT', '-binary', '-output', '-noschedule'], cwd=where, capture_output=True, timeout=30, text=True)
            bad = not os.path.exists('%s/%s.dat' % (where, name))
            reason = (run.stdout + run.stderr).strip().splitlines()[-3:]
        except subprocess.TimeoutExpired:
            bad, reason = True, ['time']
        for ending in ('asm', 'isa'):
            if os.path.exists('%s/%s.%s' % (where, name, ending)): os.remove('%s/%s.%s' % (where, name, ending))
        if bad:
            print(name, 'refused:', reason)
            os.remove('%s/%s.visaasm' % (where, name))
        else: made += 1
    print(made, 'of', count)

main()
