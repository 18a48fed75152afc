import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble } from '../../../../services/runner/sandbox/seccomp/bpf.ts';
import {
  type Architecture,
  AUDIT,
  NEWEST,
  numbersOf,
} from '../../../../services/runner/sandbox/seccomp/calls.ts';
import { filterFor } from '../../../../services/runner/sandbox/seccomp/filter.ts';

interface Call {
  number: number;
  audit: number;
  args: bigint[];
}

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;
const KILL = 0x80000000;

/** What the kernel would answer, by its own rules for such programs. */
function answer(program: Uint8Array, { number, audit, args }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  args.forEach((value, index) => void data.setBigUint64(16 + 8 * index, value, true));
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength);
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const operation = code.getUint16(at * 8, true);
    const value = code.getUint32(at * 8 + 4, true);
    if (operation === 0x06) return value;
    if (operation === 0x20) {
      loaded = data.getUint32(value, true);
      continue;
    }
    const holds =
      operation === 0x15 ? loaded === value : operation === 0x25 ? loaded > value : (loaded & value) !== 0;
    at += code.getUint8(at * 8 + (holds ? 2 : 3));
  }
  throw new Error('the program has no end');
}

const call = (architecture: Architecture, name: string, ...args: (number | bigint)[]): Call => ({
  number: numbersOf(architecture).get(name) ?? -1,
  audit: AUDIT[architecture],
  args: args.map(BigInt),
});

describe.each(['x64', 'arm64'] as const)('the filter of system calls on %s', (architecture) => {
  const program = filterFor(architecture);
  const ask = (name: string, ...args: (number | bigint)[]) =>
    answer(program, call(architecture, name, ...args));

  it('denies what leads out of a sandbox', () => {
    for (const name of [
      'ptrace',
      'process_vm_readv',
      'mount',
      'umount2',
      'pivot_root',
      'setns',
      'unshare',
      'bpf',
    ])
      expect([name, ask(name)]).toEqual([name, EPERM]);
    for (const name of [
      'keyctl',
      'add_key',
      'request_key',
      'perf_event_open',
      'userfaultfd',
      'io_uring_setup',
    ])
      expect([name, ask(name)]).toEqual([name, EPERM]);
    for (const name of [
      'init_module',
      'finit_module',
      'kexec_load',
      'fsopen',
      'move_mount',
      'open_by_handle_at',
    ])
      expect([name, ask(name)]).toEqual([name, EPERM]);
  });

  it('lets processes and threads begin, but no namespaces', () => {
    expect(ask('clone', 0x01200011)).toBe(ALLOW);
    expect(ask('clone', 0x003d0f00)).toBe(ALLOW);
    for (let bit = 0; bit < 32; bit++) {
      const isNamespace = [17, 25, 26, 27, 28, 29, 30].includes(bit);
      expect([bit, ask('clone', (1n << BigInt(bit)) | 17n)]).toEqual([bit, isNamespace ? EPERM : ALLOW]);
    }
    expect(ask('clone3')).toBe(ENOSYS);
  });

  it('knows three families of sockets, and the list of addresses', () => {
    for (const family of [1, 2, 10]) expect(ask('socket', family, 1, 0)).toBe(ALLOW);
    for (const family of [0, 3, 4, 9, 15, 17, 29, 31, 38, 40, 44]) {
      expect([family, ask('socket', family, 1, 0)]).toEqual([family, EAFNOSUPPORT]);
      expect([family, ask('socketpair', family, 1, 0)]).toEqual([family, EAFNOSUPPORT]);
    }
    expect(ask('socket', 16, 3, 0)).toBe(ALLOW);
    for (const protocol of [4, 6, 9, 10, 12, 16]) expect(ask('socket', 16, 3, protocol)).toBe(EAFNOSUPPORT);
  });

  it('looks at what is asked of terminals, and at no bits that the kernel does not look at', () => {
    expect(ask('ioctl', 0, 0x5413)).toBe(ALLOW);
    for (const request of [0x5412, 0x541c, 0x1_0000_5412]) expect(ask('ioctl', 0, request)).toBe(EPERM);
    expect(ask('personality', 0)).toBe(ALLOW);
    expect(ask('personality', 0xffffffff)).toBe(ALLOW);
    expect(ask('personality', 0x0400000)).toBe(EPERM);
  });

  it('does not know what is newer than itself, nor calls under other numbers', () => {
    for (const number of [NEWEST + 1, 512, 0x40000000 | 59, 0xffffffff])
      expect(answer(program, { number, audit: AUDIT[architecture], args: [] })).toBe(ENOSYS);
  });

  it('ends a program of another architecture', () => {
    for (const audit of [0x40000003, 0x40000028, architecture === 'x64' ? AUDIT.arm64 : AUDIT.x64])
      expect(answer(program, { number: 1, audit, args: [] })).toBe(KILL);
  });

  it('allows everything else', () => {
    const mentioned = new Set(numbersOf(architecture).values());
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: NEWEST }).filter((number) => !mentioned.has(number)),
        fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 6, maxLength: 6 }),
        (number, args) => answer(program, { number, audit: AUDIT[architecture], args }) === ALLOW,
      ),
    );
  });
});

describe('the assembler of filters', () => {
  it('refuses jumps that lead nowhere', () => {
    const jump = { op: 'equal', value: 1, hit: 'there' } as const;
    const end = { op: 'return', value: 0 } as const;
    expect(() => assemble([jump, end])).toThrow('no way');
    expect(() => assemble([{ label: 'there' }, jump, end])).toThrow('no way');
    expect(() => assemble([jump, ...Array(256).fill(end), { label: 'there' }, end])).toThrow('no way');
    expect(assemble([jump, ...Array(255).fill(end), { label: 'there' }, end])).toHaveLength(257 * 8);
  });
});
