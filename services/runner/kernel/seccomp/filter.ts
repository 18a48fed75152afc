import { assemble, type Instruction } from './bpf.ts';
import { type Architecture, AUDIT, NEWEST, systemCallNumbers } from './system-calls.ts';

/** Offsets in struct seccomp_data: call number, architecture, instruction pointer, six arguments. */
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const fail = (errno: number): number => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

/** Flags of clone that create namespaces: mount, cgroup, UTS, IPC, user, pid, network. */
const NEW_NAMESPACES = 0x7e020000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Insert characters into the input of a terminal, and paste into the console. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** Reserve disk space: FS_IOC_RESVSP, FS_IOC_RESVSP64 and FS_IOC_ZERO_RANGE. */
const RESERVE_SPACE = [0x40305828, 0x4030582a, 0x40305839];
const QUERY_PERSONALITY = 0xffffffff;

/** Calls that are allowed or denied by their arguments. */
const CHECKED_BY_ARGUMENT = new Set(['clone', 'clone3', 'ioctl', 'personality', 'socket', 'socketpair']);
/** Calls that depend on the options of the filter. */
const OPTIONAL = new Set(['fallocate']);

interface FilterOptions {
  /**
   * Whether programs can reserve disk space without writing to it. Without it, they get EOPNOTSUPP, as on file systems that
   * do not support it. A disk is then filled no faster than a program writes, so that a monitor can end the program.
   */
  mayReserveSpace: boolean;
}

/**
 * Returns the seccomp filter of commands. It allows the calls that ordinary programs need and denies those that have
 * been used to escape from sandboxes. Calls that are newer than the table fail with ENOSYS, which programs handle.
 */
export function seccompFilter(
  architecture: Architecture,
  options: FilterOptions = { mayReserveSpace: true },
): Uint8Array {
  return assemble(filterProgram(architecture, options));
}

function filterProgram(architecture: Architecture, { mayReserveSpace }: FilterOptions): Instruction[] {
  const numbers = systemCallNumbers(architecture);
  const checked = (name: string, label: string): Instruction[] => {
    const value = numbers.get(name);
    return value === undefined ? [] : [{ op: 'equal', value, hit: label }];
  };
  const denied = [...numbers].filter(([name]) => !CHECKED_BY_ARGUMENT.has(name) && !OPTIONAL.has(name));
  const reservations = mayReserveSpace ? [] : RESERVE_SPACE;
  return [
    { op: 'load', offset: ARCHITECTURE },
    // 32-bit programs use other call numbers.
    { op: 'equal', value: AUDIT[architecture], miss: 'kill' },
    { op: 'load', offset: CALL_NUMBER },
    { op: 'greater', value: NEWEST, hit: 'unknown' },
    ...checked('clone', 'clone'),
    // The flags of clone3 are in memory, which a filter cannot read. Programs fall back to clone on ENOSYS.
    ...checked('clone3', 'unknown'),
    ...checked('ioctl', 'ioctl'),
    ...(mayReserveSpace ? [] : checked('fallocate', 'unsupported')),
    ...checked('personality', 'personality'),
    ...checked('socket', 'socket'),
    ...checked('socketpair', 'socket'),
    ...denied.map(([, value]): Instruction => ({ op: 'equal', value, hit: 'deny' })),
    { op: 'return', value: ALLOW },

    { label: 'clone' },
    { op: 'load', offset: argument(0) },
    { op: 'any', value: NEW_NAMESPACES, hit: 'deny', miss: 'allow' },

    { label: 'ioctl' },
    { op: 'load', offset: argument(1) },
    ...reservations.map((value): Instruction => ({ op: 'equal', value, hit: 'unsupported' })),
    { op: 'equal', value: TIOCSTI, hit: 'deny' },
    { op: 'equal', value: TIOCLINUX, hit: 'deny', miss: 'allow' },

    { label: 'personality' },
    { op: 'load', offset: argument(0) },
    { op: 'equal', value: 0, hit: 'allow' },
    { op: 'equal', value: QUERY_PERSONALITY, hit: 'allow', miss: 'deny' },

    { label: 'socket' },
    { op: 'load', offset: argument(0) },
    { op: 'equal', value: AF_UNIX, hit: 'allow' },
    { op: 'equal', value: AF_INET, hit: 'allow' },
    { op: 'equal', value: AF_INET6, hit: 'allow' },
    { op: 'equal', value: AF_NETLINK, miss: 'family' },
    // NETLINK_ROUTE only: many programs list the network addresses when they start.
    { op: 'load', offset: argument(2) },
    { op: 'equal', value: 0, hit: 'allow' },
    { label: 'family' },
    { op: 'return', value: fail(EAFNOSUPPORT) },

    { label: 'allow' },
    { op: 'return', value: ALLOW },
    { label: 'deny' },
    { op: 'return', value: fail(EPERM) },
    { label: 'unsupported' },
    { op: 'return', value: fail(EOPNOTSUPP) },
    { label: 'unknown' },
    { op: 'return', value: fail(ENOSYS) },
    { label: 'kill' },
    { op: 'return', value: KILL },
  ];
}
