import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../support/api.ts';
import { connectAndCall } from '../support/mcp-conformance/authorization.ts';
import { type Check, requiredScenarios, runScenarios } from '../support/mcp-conformance/suite.ts';
import { useServer } from '../support/mcp-conformance/transport.ts';
import { startInProcess } from '../support/system.ts';

const REVISIONS = ['2025-11-25', '2026-07-28'];
/** Scenarios that are required of clients, but not of this one, and why. */
const NOT_APPLICABLE: Record<string, string> = {
  'elicitation-sep1034-client-defaults':
    'Servers of 2025-11-25 ask during a call, which no person can answer in time. Their questions are declined.',
  'auth/basic-cimd':
    'The scenario demands the document of its own host. test/real/client-id-document.test.ts uses that of the service.',
};
const LIMIT_MS = 900_000;

/** The ports from which the system chooses those of the suite's servers. */
function everyFreePort(): string {
  const text = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [first = 0, last = 0] = text.split(/\s+/).map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => `localhost:${first + index}`).join();
}

describe.each(
  await Promise.all(
    REVISIONS.map(async (revision) => {
      const required = await requiredScenarios(revision);
      return { revision, scenarios: required.filter((one) => NOT_APPLICABLE[one] === undefined) };
    }),
  ),
)('client scenarios of MCP $revision', ({ revision, scenarios }) => {
  const stack = new AsyncDisposableStack();
  let results: Map<string, Check[]>;
  beforeAll(async () => {
    const system = stack.use(await startInProcess({ SERVICE_OUTBOUND_PRIVATE_HOSTS: everyFreePort() }));
    const api = createApi(system.url);
    results = await runScenarios(revision, async (scenario) => {
      const { scenario: name } = scenario;
      if (!scenarios.includes(name)) throw new Error('the scenario is not required');
      await (name.startsWith('auth/') ? connectAndCall(api, scenario) : useServer(scenario));
    });
  }, LIMIT_MS);
  afterAll(() => stack.disposeAsync());

  it.each(scenarios)('%s', (scenario) => {
    const checks = results.get(scenario) ?? [];
    expect(checks.map(({ status }) => status)).toContain('SUCCESS');
    const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    expect(failed).toEqual([]);
  });
});
