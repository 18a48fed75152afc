import type { SettingProblem } from '../../lib/env.ts';
import type { StandIn } from '../../lib/modules.ts';

/** Everything that is wrong, on one screen, each with its way out. */
export function problemScreen(problems: readonly SettingProblem[]): string {
  const count = problems.length === 1 ? 'one thing has' : `${problems.length} things have`;
  const entries = problems.map(
    ({ variable, problem, expected, fix }) =>
      `  ${variable} ${problem.startsWith(':') ? problem.slice(1).trim() : problem}\n    expected: ${expected}\n    to mend:  ${fix}\n`,
  );
  return `\nThe Agent Hosting Service cannot start: ${count} to be mended first.\n\n${entries.join('\n')}\n`;
}

export interface BannerFacts {
  url: string;
  dataDir: string | undefined;
  standIns: readonly StandIn[];
}

/** What a person needs in the first minute. */
export function banner({ url, dataDir, standIns }: BannerFacts): string {
  const width = Math.max(...standIns.map(({ role }) => role.length));
  const parts = standIns.map(({ role, inForce }) => `    ${role.padEnd(width)}  ${inForce}`);
  return `
  Agent Hosting Service

    open      ${url}/docs
    ready     ${url}/readyz?verbose${dataDir ? `\n    data      ${dataDir}` : ''}

  What is in force
${parts.join('\n')}

  Try it
    curl ${url}/api/v1/agents -H 'Content-Type: application/json' \\
      -d '{"name": "Echo", "model": "rehearsal/echo"}'

  Ctrl-C stops everything in order.
`;
}
