const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface Rlimits {
  /** Processes of one command. */
  processes?: number | undefined;
  /** Private memory of each process. */
  memoryMib?: number | undefined;
}

/** The pipes of a command beside the three that every program has. */
export const SCRIPT_FD = 3;
export const READY_FD = 4;

const OPEN_FILES = 16_384;
const KIB_PER_MIB = 1024;

/**
 * What the shell of a command does first, before it knows the script: it limits itself, gives up what it may have
 * inherited, and says that it is there. Then it is told the script; when nobody tells it, because the runner has
 * ended, it ends.
 */
export function prelude({ processes, memoryMib }: Rlimits): string {
  const limits = [`-n ${OPEN_FILES}`];
  if (processes !== undefined) limits.push(`-u ${processes}`);
  if (memoryMib !== undefined) limits.push(`-d ${memoryMib * KIB_PER_MIB}`);
  const steps = [
    ...limits.map((limit) => `ulimit ${limit} 2>/dev/null`),
    `for _ahs in /proc/self/fd/*; do _ahs=\${_ahs##*/}; [ $_ahs -gt ${READY_FD} ] && eval "exec $_ahs>&-"; done`,
    `printf . >&${READY_FD} || exit`,
    `exec ${READY_FD}>&-`,
    `IFS= read -r _ahs <&${SCRIPT_FD} || exit`,
    `LC_ALL=C IFS= read -r -N "$_ahs" _ahs <&${SCRIPT_FD} || exit`,
    `exec ${SCRIPT_FD}<&-`,
    'eval "$_ahs"',
    'eval "unset _ahs; $_ahs"',
  ];
  // In one line, so that the lines of the script are counted from its first.
  return steps.join('; ');
}

/** The script as that shell is told it: with its length first, so that a part of it is never taken for all. */
export function telling(script: string, variables: Readonly<Record<string, string>>): string {
  const exports = Object.entries(variables)
    .filter(([name]) => NAME.test(name))
    .map(([name, value]) => `export ${name}=${quote(value)}`);
  const text = [...exports, `_ahs=${quote(script)}`].join('\n');
  return `${Buffer.byteLength(text)}\n${text}`;
}

/** No shell can hold a NUL. */
const quote = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", "'\\''")}'`;
