import type { SettingProblem } from '../../lib/env.ts';
import type { StandIn } from '../../lib/modules.ts';

const WIDTH = 80;

/** Everything that is wrong, on one screen, each with its way out. */
export function problemScreen(problems: readonly SettingProblem[]): string {
  const count = problems.length === 1 ? 'one thing has' : `${problems.length} things have`;
  const entries = problems.map(({ variable, problem, expected, fix }) => {
    const title = problem.startsWith(':') ? `${variable}${problem}` : `${variable} ${problem}`;
    const lines = [
      wrap(title, '  ', '    '),
      wrap(expected, '    expected: ', INDENT),
      wrap(fix, '    to mend:  ', INDENT),
    ];
    return `${lines.join('\n')}\n`;
  });
  return `\nThe Agent Hosting Service cannot start: ${count} to be mended first.\n\n${entries.join('\n')}\n`;
}

const INDENT = ' '.repeat(14);

/** Breaks a sentence between words; what is to be copied stays whole. */
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

/** Made at POST /api/v1/auth/tokens by who has logged in. */
const TOKEN = `
      -H "Authorization: Bearer $TOKEN" \\`;

export interface BannerFacts {
  url: string;
  dataDir: string | undefined;
  standIns: readonly StandIn[];
  /** Whether people log in. */
  isTeam: boolean;
}

/** What a person needs in the first minute. */
export function banner({ url, dataDir, standIns, isTeam }: BannerFacts): string {
  const width = Math.max(...standIns.map(({ role }) => role.length));
  const parts = standIns.map(({ role, inForce }) => `    ${role.padEnd(width)}  ${inForce}`);
  return `
  Agent Hosting Service

    open      ${url}
    API       ${url}/docs
    ready     ${url}/readyz?verbose${dataDir ? `\n    data      ${dataDir}` : ''}

  What is in force
${parts.join('\n')}

  Try it
    curl ${url}/api/v1/agents \\${isTeam ? TOKEN : ''}
      -H 'Content-Type: application/json' \\
      -d '{"name": "Echo", "model": "rehearsal/echo"}'

  Ctrl-C stops everything in order.
`;
}
