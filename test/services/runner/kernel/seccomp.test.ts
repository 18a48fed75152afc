import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble } from '../../../../services/runner/kernel/seccomp/bpf.ts';
import { seccompFilter } from '../../../../services/runner/kernel/seccomp/filter.ts';
import {
  type Architecture,
  AUDIT,
  NEWEST,
  systemCallNumbers,
} from '../../../../services/runner/kernel/seccomp/system-calls.ts';

interface Call {
  number: number;
  audit: number;
  args: bigint[];
}

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const EOPNOTSUPP = 0x0005005f;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;
const KILL = 0x80000000;

/** Interprets a filter program as the kernel does. */
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
  throw new Error('the program does not return');
}

const call = (architecture: Architecture, name: string, ...args: (number | bigint)[]): Call => ({
  number: systemCallNumbers(architecture).get(name) ?? -1,
  audit: AUDIT[architecture],
  args: args.map(BigInt),
});

describe.each(['x64', 'arm64'] as const)('seccompFilter on %s', (architecture) => {
  const program = seccompFilter(architecture);
  const evaluate = (name: string, ...args: (number | bigint)[]) =>
    answer(program, call(architecture, name, ...args));

  it('denies reservations of disk space only when a monitor limits the space', () => {
    const monitored = seccompFilter(architecture, { mayReserveSpace: false });
    const RESERVE = 0x4030582a;
    for (const [filter, expected] of [
      [program, ALLOW],
      [monitored, EOPNOTSUPP],
    ] as const) {
      expect(answer(filter, call(architecture, 'fallocate', 3, 0, 0, 4096))).toBe(expected);
      expect(answer(filter, call(architecture, 'ioctl', 3, RESERVE))).toBe(expected);
      expect(answer(filter, call(architecture, 'ioctl', 3, 0x5401))).toBe(ALLOW);
    }
  });

  it('denies system calls that allow an escape from the sandbox', () => {
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
      expect([name, evaluate(name)]).toEqual([name, EPERM]);
    for (const name of [
      'keyctl',
      'add_key',
      'request_key',
      'perf_event_open',
      'userfaultfd',
      'io_uring_setup',
    ])
      expect([name, evaluate(name)]).toEqual([name, EPERM]);
    for (const name of [
      'init_module',
      'finit_module',
      'kexec_load',
      'fsopen',
      'move_mount',
      'open_by_handle_at',
    ])
      expect([name, evaluate(name)]).toEqual([name, EPERM]);
  });

  it('allows new processes and threads, but no new namespaces', () => {
    expect(evaluate('clone', 0x01200011)).toBe(ALLOW);
    expect(evaluate('clone', 0x003d0f00)).toBe(ALLOW);
    for (let bit = 0; bit < 32; bit++) {
      const isNamespace = [17, 25, 26, 27, 28, 29, 30].includes(bit);
      expect([bit, evaluate('clone', (1n << BigInt(bit)) | 17n)]).toEqual([bit, isNamespace ? EPERM : ALLOW]);
    }
    expect(evaluate('clone3')).toBe(ENOSYS);
  });

  it('allows Unix, IPv4 and IPv6 sockets and the list of network addresses', () => {
    for (const family of [1, 2, 10]) expect(evaluate('socket', family, 1, 0)).toBe(ALLOW);
    for (const family of [0, 3, 4, 9, 15, 17, 29, 31, 38, 40, 44]) {
      expect([family, evaluate('socket', family, 1, 0)]).toEqual([family, EAFNOSUPPORT]);
      expect([family, evaluate('socketpair', family, 1, 0)]).toEqual([family, EAFNOSUPPORT]);
    }
    expect(evaluate('socket', 16, 3, 0)).toBe(ALLOW);
    for (const protocol of [4, 6, 9, 10, 12, 16])
      expect(evaluate('socket', 16, 3, protocol)).toBe(EAFNOSUPPORT);
  });

  it('denies terminal input injection and other personalities, and ignores upper bits as the kernel does', () => {
    expect(evaluate('ioctl', 0, 0x5413)).toBe(ALLOW);
    for (const request of [0x5412, 0x541c, 0x1_0000_5412]) expect(evaluate('ioctl', 0, request)).toBe(EPERM);
    expect(evaluate('personality', 0)).toBe(ALLOW);
    expect(evaluate('personality', 0xffffffff)).toBe(ALLOW);
    expect(evaluate('personality', 0x0400000)).toBe(EPERM);
  });

  it('returns ENOSYS for newer system calls and for numbers of other ABIs', () => {
    for (const number of [NEWEST + 1, 512, 0x40000000 | 59, 0xffffffff])
      expect(answer(program, { number, audit: AUDIT[architecture], args: [] })).toBe(ENOSYS);
  });

  it('kills programs of another architecture', () => {
    for (const audit of [0x40000003, 0x40000028, architecture === 'x64' ? AUDIT.arm64 : AUDIT.x64])
      expect(answer(program, { number: 1, audit, args: [] })).toBe(KILL);
  });

  it('allows all other system calls', () => {
    const mentioned = new Set(systemCallNumbers(architecture).values());
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: NEWEST }).filter((number) => !mentioned.has(number)),
        fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 6, maxLength: 6 }),
        (number, args) => answer(program, { number, audit: AUDIT[architecture], args }) === ALLOW,
      ),
    );
  });
});

describe('assemble', () => {
  it('throws for jumps to missing, backward or distant labels', () => {
    const jump = { op: 'equal', value: 1, hit: 'there' } as const;
    const end = { op: 'return', value: 0 } as const;
    expect(() => assemble([jump, end])).toThrow('cannot jump');
    expect(() => assemble([{ label: 'there' }, jump, end])).toThrow('cannot jump');
    expect(() => assemble([jump, ...Array(256).fill(end), { label: 'there' }, end])).toThrow('cannot jump');
    expect(assemble([jump, ...Array(255).fill(end), { label: 'there' }, end])).toHaveLength(257 * 8);
  });
});
