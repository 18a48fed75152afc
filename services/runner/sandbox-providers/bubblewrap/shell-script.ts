const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface Rlimits {
  /** Processes of one command. */
  processes?: number | undefined;
  /** Private memory of each process. */
  memoryMib?: number | undefined;
}

/** File descriptors of a command beside stdin, stdout and stderr. */
const SCRIPT_FD = 3;
const READY_FD = 4;

const OPEN_FILES = 16_384;
const KIB_PER_MIB = 1024;

/**
 * Returns the code that the shell of a command runs before it has the script: it sets its resource limits, closes
 * inherited file descriptors, reports that it is ready and reads the script. It exits when no script arrives because
 * the runner has ended.
 */
export function shellPrelude({ processes, memoryMib }: Rlimits): string {
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
  // On a single line, so that line numbers in error messages count from the first line of the script.
  return steps.join('; ');
}

/** Encodes a script for shellPrelude. The length comes first, so that the shell never runs a truncated script. */
export function encodeScript(script: string, variables: Readonly<Record<string, string>>): string {
  const exports = Object.entries(variables)
    .filter(([name]) => VARIABLE_NAME.test(name))
    .map(([name, value]) => `export ${name}=${quote(value)}`);
  const text = [...exports, `_ahs=${quote(script)}`].join('\n');
  return `${Buffer.byteLength(text)}\n${text}`;
}

/** Removes NUL characters, which no shell can hold. */
const quote = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", "'\\''")}'`;
