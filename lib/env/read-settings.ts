import { readFileSync } from 'node:fs';
import type { Declaration, EnvironmentVariables, Setting, SettingProblem, Settings } from '../env.ts';

/** Reads the settings of one module. Adds each problem to `problems`; the value of that setting must not be used. */
export function readSettings<D extends Declaration>(
  declaration: D,
  env: EnvironmentVariables,
  problems: SettingProblem[],
): Settings<D> {
  const entries = Object.entries(declaration).map(([name, one]) => [name, readOne(one, env, problems)]);
  return Object.fromEntries(entries) as Settings<D>;
}

/** Matches a URL with user information, which can include a password. */
const PASSWORD = /:\/\/[^/?#\s]*@/;

function readOne(one: Setting<unknown>, env: EnvironmentVariables, problems: SettingProblem[]): unknown {
  const { variable, expected } = one;
  const problem = (text: string, fix: string, name = variable) =>
    void problems.push({ variable: name, problem: text, expected, fix });
  let text = env[variable];
  if (one.secret) {
    const file = env[`${variable}_FILE`];
    if (file && text)
      return problem('is set together with its _FILE form', `unset ${variable} or ${variable}_FILE`);
    if (file) {
      try {
        text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      } catch (error) {
        const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
        return problem(
          `names a file that cannot be read (${reason})`,
          'name a file that this user can read',
          `${variable}_FILE`,
        );
      }
    }
  }
  if (text === undefined || text === '') {
    if (one.fallback !== undefined || one.optional) return one.fallback;
    return problem('is not set', `set ${variable} to ${expected}`);
  }
  try {
    return one.parse(text);
  } catch (error) {
    const shown = one.secret || PASSWORD.test(text) ? '' : `("${text}") `;
    return problem(`${shown}${error instanceof Error ? error.message : error}`, one.fix);
  }
}

/** Returns a problem for each SERVICE_ variable that no module declares. Most are misspelt. */
export function unknownVariables(declarations: Declaration[], env: EnvironmentVariables): SettingProblem[] {
  const known = new Set<string>();
  for (const one of declarations.flatMap((declaration) => Object.values(declaration))) {
    known.add(one.variable);
    if (one.secret) known.add(`${one.variable}_FILE`);
  }
  return Object.keys(env)
    .filter((name) => name.startsWith('SERVICE_') && !known.has(name))
    .map((variable) => ({
      variable,
      problem: 'is not a setting of this release',
      expected: 'a name from docs/reference/settings.md',
      fix: `unset ${variable} or correct its name`,
    }));
}
