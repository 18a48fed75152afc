import { assemble, type Instruction } from './bpf.ts';
import { type Architecture, AUDIT, NEWEST, numbersOf } from './calls.ts';

/** What the kernel tells a filter of a call: its number, the architecture, the instruction, six arguments. */
const CALL = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const fail = (errno: number): number => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** All that begin a namespace: mounts, control groups, names, messages, users, processes, network. */
const NEW_NAMESPACES = 0x7e020000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Puts characters into the input of a terminal, and pastes into the console. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const ASK_PERSONALITY = 0xffffffff;

/** Looked at more closely than by their names. */
const SPECIAL = new Set(['clone', 'clone3', 'ioctl', 'personality', 'socket', 'socketpair']);

/**
 * What a command may ask of the kernel: all that programs do, and nothing by which sandboxes have been left. Calls
 * that are newer than this table do not exist for it, which is what programs are prepared for.
 */
export function filterFor(architecture: Architecture): Uint8Array {
  return assemble(programFor(architecture));
}

export function programFor(architecture: Architecture): Instruction[] {
  const numbers = numbersOf(architecture);
  const special = (name: string, label: string): Instruction[] => {
    const value = numbers.get(name);
    return value === undefined ? [] : [{ op: 'equal', value, hit: label }];
  };
  const denied = [...numbers].filter(([name]) => !SPECIAL.has(name));
  return [
    { op: 'load', offset: ARCHITECTURE },
    // 32-bit programs have numbers of their own.
    { op: 'equal', value: AUDIT[architecture], miss: 'kill' },
    { op: 'load', offset: CALL },
    { op: 'greater', value: NEWEST, hit: 'unknown' },
    ...special('clone', 'clone'),
    // Its flags are in memory, where no filter sees them; programs fall back to clone.
    ...special('clone3', 'unknown'),
    ...special('ioctl', 'ioctl'),
    ...special('personality', 'personality'),
    ...special('socket', 'socket'),
    ...special('socketpair', 'socket'),
    ...denied.map(([, value]): Instruction => ({ op: 'equal', value, hit: 'deny' })),
    { op: 'return', value: ALLOW },

    { label: 'clone' },
    { op: 'load', offset: argument(0) },
    { op: 'any', value: NEW_NAMESPACES, hit: 'deny', miss: 'allow' },

    { label: 'ioctl' },
    { op: 'load', offset: argument(1) },
    { op: 'equal', value: TIOCSTI, hit: 'deny' },
    { op: 'equal', value: TIOCLINUX, hit: 'deny', miss: 'allow' },

    { label: 'personality' },
    { op: 'load', offset: argument(0) },
    { op: 'equal', value: 0, hit: 'allow' },
    { op: 'equal', value: ASK_PERSONALITY, hit: 'allow', miss: 'deny' },

    { label: 'socket' },
    { op: 'load', offset: argument(0) },
    { op: 'equal', value: AF_UNIX, hit: 'allow' },
    { op: 'equal', value: AF_INET, hit: 'allow' },
    { op: 'equal', value: AF_INET6, hit: 'allow' },
    { op: 'equal', value: AF_NETLINK, miss: 'family' },
    // Only the addresses of its own network, which many programs list when they start.
    { op: 'load', offset: argument(2) },
    { op: 'equal', value: 0, hit: 'allow' },
    { label: 'family' },
    { op: 'return', value: fail(EAFNOSUPPORT) },

    { label: 'allow' },
    { op: 'return', value: ALLOW },
    { label: 'deny' },
    { op: 'return', value: fail(EPERM) },
    { label: 'unknown' },
    { op: 'return', value: fail(ENOSYS) },
    { label: 'kill' },
    { op: 'return', value: KILL },
  ];
}
