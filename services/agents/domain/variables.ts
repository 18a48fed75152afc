import { type FieldProblems, pointerSegment } from './field-problems.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MAX_VARIABLES = 100;
const MAX_VALUE = 4_096;
const MAX_BYTES = 32 * 1024;

/** Set by the sandbox itself, or read by its shell and its dynamic loader before a command runs. */
const RESERVED = new Set([
  ...['PATH', 'HOME', 'PWD', 'OLDPWD', 'SHELL', 'USER', 'LOGNAME', 'TMPDIR', 'IFS', 'ENV'],
  ...['BASH_ENV', 'BASHOPTS', 'SHELLOPTS', 'PS4', 'PROMPT_COMMAND'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
]);
const RESERVED_PREFIXES = ['LD_', 'BASH_FUNC_', 'AHS_'];

/** Reports problems of environment variables: number, size, names and reserved names. */
export function checkVariables(variables: Readonly<Record<string, string>>, problems: FieldProblems): void {
  const entries = Object.entries(variables);
  if (entries.length > MAX_VARIABLES) {
    problems.add('/variables', `must have at most ${MAX_VARIABLES} members`);
    return;
  }
  let bytes = 0;
  for (const [name, value] of entries) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (!NAME.test(name)) {
      problems.add(
        '/variables',
        'must have names of 1–128 letters, digits and _ that do not begin with a digit',
      );
      continue;
    }
    if (isReserved(name))
      problems.add(
        `/variables${pointerSegment(name)}`,
        'must not be a variable that the sandbox sets itself',
      );
    problems.characters(`/variables${pointerSegment(name)}`, value, 0, MAX_VALUE);
  }
  if (bytes > MAX_BYTES) problems.add('/variables', 'must be at most 32 KiB long in total');
}

/** Proxy variables are reserved in lower case, too. */
function isReserved(name: string): boolean {
  const upper = name.toUpperCase();
  if (upper.endsWith('_PROXY')) return RESERVED.has(upper);
  return RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
