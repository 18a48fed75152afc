import type { SettingProblem } from '../../lib/env.ts';
import type { Backend } from '../../lib/modules.ts';

const WIDTH = 80;

/** Returns the start-up error screen: each problem with the expected value and the fix. */
export function problemScreen(problems: readonly SettingProblem[]): string {
  const count = problems.length === 1 ? 'one problem must' : `${problems.length} problems must`;
  const entries = problems.map(({ variable, problem, expected, fix }) => {
    const title = problem.startsWith(':') ? `${variable}${problem}` : `${variable} ${problem}`;
    const lines = [
      wrap(title, '  ', '    '),
      wrap(expected, '    expected: ', INDENT),
      wrap(fix, '    fix:      ', INDENT),
    ];
    return `${lines.join('\n')}\n`;
  });
  return `\nThe Agent Hosting Service cannot start: ${count} be fixed first.\n\n${entries.join('\n')}\n`;
}

const INDENT = ' '.repeat(14);

/** Wraps a text between words, so that commands and paths to copy stay whole. */
function wrap(text: string, first: string, further: string): string {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(' ')) {
    const isEmpty = line.trim() === '' || line === first;
    if (!isEmpty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = further + word;
    } else line += isEmpty ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}

/** The header for team mode. A user creates the token with POST /api/v1/auth/tokens. */
const TOKEN = `
      -H "Authorization: Bearer $TOKEN" \\`;

interface BannerFacts {
  url: string;
  dataDir: string | undefined;
  backends: readonly Backend[];
  /** Whether users log in. */
  isTeam: boolean;
  warnings: readonly string[];
}

/** Returns the start-up message with the URLs, the active backends and a first request. */
export function banner({ url, dataDir, backends, isTeam, warnings }: BannerFacts): string {
  const width = Math.max(...backends.map(({ role }) => role.length));
  const parts = backends.map(({ role, description }) => `    ${role.padEnd(width)}  ${description}`);
  return `
  Agent Hosting Service

    open      ${url}
    API       ${url}/docs
    ready     ${url}/readyz?verbose${dataDir ? `\n    data      ${dataDir}` : ''}

  Active backends
${parts.join('\n')}
${warnings.map((warning) => `\n${wrap(warning, '  Warning: ', '    ')}\n`).join('')}
  Try it
    curl ${url}/api/v1/agents \\${isTeam ? TOKEN : ''}
      -H 'Content-Type: application/json' \\
      -d '{"name": "Echo", "model": "rehearsal/echo"}'

  Press Ctrl-C to stop.
`;
}
