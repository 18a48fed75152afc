import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFixtureServer } from '../../../support/mcp-conformance/fixtures/fixture-server.ts';
import { FixtureTasks } from '../../../support/mcp-conformance/fixtures/fixture-tasks.ts';
import { PLANS } from '../../../support/mcp-conformance/server-scenarios.ts';
import { runServerScenarios, serverScenarios } from '../../../support/mcp-conformance/server-suite.ts';
import type { Check } from '../../../support/mcp-conformance/suite.ts';
import { type System, startInProcess } from '../../../support/system.ts';

const LIMIT_MS = 900_000;
/** Recommendations that the fixtures do not follow, because their lists never change. */
const CONSTANT_LISTS = [
  'sep-2575-server-sends-prompts-list-changed-on-subscription',
  'sep-2575-server-sends-tools-list-changed-on-subscription',
];

const known = await serverScenarios();
const stack = new AsyncDisposableStack();
/** The checks by scenario, by revision. */
let product: Map<string, Check[]>[];
let fixtures: Map<string, Check[]>[];

beforeAll(async () => {
  const system = stack.use(await startInProcess({}));
  const tasks = new FixtureTasks();
  const withFixtures = stack.use(
    await startInProcess({}, [], { mcpServerFactory: (context) => createFixtureServer(tasks, context) }),
  );
  // One run after the other: scenarios have time limits of their own.
  const runAll = async ({ url }: System) => {
    const found: Map<string, Check[]>[] = [];
    for (const revision of Object.keys(PLANS)) found.push(await runServerScenarios(revision, `${url}/mcp`));
    return found;
  };
  product = await runAll(system);
  fixtures = await runAll(withFixtures);
}, LIMIT_MS);
afterAll(() => stack.disposeAsync());

describe.each(Object.entries(PLANS))('server scenarios of MCP %s', (revision, plan) => {
  const index = Object.keys(PLANS).indexOf(revision);

  it('plans every scenario of the suite once', () => {
    const planned = [...plan.product, ...plan.fixtures, ...Object.keys(plan.notRun)];
    const applicable = [...known].filter(([, revisions]) => revisions.includes(revision));
    const extensions = [...known].filter(([, revisions]) => revisions.includes('extension'));
    const ofRevision = [...applicable, ...(revision === '2026-07-28' ? extensions : [])];
    expect(planned.toSorted()).toEqual(ofRevision.map(([name]) => name).toSorted());
  });

  it.each(plan.product)('the product passes %s', (scenario) => expectSuccess(product[index]?.get(scenario)));

  it.each(plan.fixtures)('the handler with fixtures passes %s', (scenario) =>
    expectSuccess(fixtures[index]?.get(scenario)),
  );
});

function expectSuccess(checks: Check[] = []): void {
  expect(checks.map(({ status }) => status)).toContain('SUCCESS');
  const failed = checks.filter(
    ({ id, status }) => status === 'FAILURE' || (status === 'WARNING' && !CONSTANT_LISTS.includes(id)),
  );
  expect(failed).toEqual([]);
}
