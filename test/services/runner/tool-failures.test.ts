import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { Sandbox, SandboxProvider, SandboxSpec } from '../../../services/runner/sandbox/sandbox.ts';
import type { WorkspaceTree } from '../../../services/runner/sandbox/workspace-tree.ts';
import type { SandboxProviders } from '../../../services/runner/sandbox-providers/choose-provider.ts';
import { ToolOutput } from '../../../services/runner/tool-calls/tool-call.ts';
import { ToolError } from '../../../services/runner/tool-calls/tool-error.ts';
import { captureLog } from '../../support/captured-log.ts';
import { until } from '../../support/wait.ts';
import { type Journal, queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool } from './recording-tool.ts';
import { dataOf, openTestRunner, outcomeOf, script, typesOf } from './runner-fixture.ts';
import { openShellRunner } from './shell-runner.ts';
import { openSimulatedProviders } from './simulated-providers.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };
const FAILED = { $case: 'failed', value: { error: { code: 'internal' } } };

/** Runs a turn with one call of a tool that throws `error`. */
async function runThrowing(error: unknown, effect: 'read' | 'once' = 'once') {
  const { log, lines } = captureLog();
  const tool = createRecordingTool({ effect });
  tool.answer = () => {
    throw error;
  };
  await using fixture = await openTestRunner({ tools: [tool.tool], log });
  fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
  const journal = await fixture.waitForOutcome('trn_1');
  expect(outcomeOf(journal)).toEqual(END_TURN);
  return { lines, result: dataOf(journal, 'agent.tool_result')[0] };
}

describe('an exception in a tool', () => {
  it('is logged at error level with the turn, the call and the stack when it is unexpected', async () => {
    const { lines } = await runThrowing(
      new TypeError('x.y is not a function', { cause: new Error('deeper') }),
    );
    expect(lines).toMatchObject([
      {
        level: 'error',
        msg: 'a tool call failed unexpectedly',
        session_id: 'ses_trn_1',
        turn_id: 'trn_1',
        tool: 'count',
        tool_use_id: 'call_1_1',
        err: { type: 'TypeError', message: expect.stringContaining('x.y is not a function') },
      },
    ]);
    expect(JSON.stringify(lines)).toContain('tool-failures.test.ts');
    expect(JSON.stringify(lines)).toContain('deeper');
  });

  it('is reported to the model as an internal error, without its message, when it is unexpected', async () => {
    expect((await runThrowing(new TypeError('x.y is not a function'))).result).toMatchObject({
      output: 'The tool failed because of an internal error. Whether it took effect is unknown.',
      is_error: true,
    });
    expect((await runThrowing('a string', 'read')).result).toMatchObject({
      output: 'The tool failed because of an internal error.',
      is_error: true,
    });
  });

  it('is logged when another service answers INTERNAL', async () => {
    const { lines, result } = await runThrowing(refuse('INTERNAL', 'an internal error'));
    expect(lines).toMatchObject([{ level: 'error', err: { code: 'INTERNAL' } }]);
    expect(result).toMatchObject({ is_error: true });
  });

  it('is reported with its message and not logged when it is a ToolError or a refusal', async () => {
    for (const error of [new ToolError('The printer is on fire.'), refuse('QUOTA_EXCEEDED', 'It is full.')]) {
      const { lines, result } = await runThrowing(error);
      expect(lines).toEqual([]);
      expect(result).toMatchObject({ output: error.message, is_error: true });
    }
  });

  it('is logged with its cause when a ToolError has one', async () => {
    const cause = new Error('read EIO');
    const { lines, result } = await runThrowing(new ToolError('The sandbox was lost.', { cause }));
    expect(lines).toMatchObject([{ level: 'error', turn_id: 'trn_1' }]);
    expect(JSON.stringify(lines)).toContain('read EIO');
    expect(result).toMatchObject({ output: 'The sandbox was lost.', is_error: true });
  });
});

/** Providers of sandboxes whose workspace trees throw `fault.error` from the method `fault.method`. */
function faultyProviders(providers: SandboxProviders, fault: { method: keyof WorkspaceTree; error?: Error }) {
  const faultyTree = (tree: WorkspaceTree): WorkspaceTree =>
    new Proxy(tree, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === fault.method && fault.error) throw fault.error;
          return value.apply(target, args);
        };
      },
    });
  const faultySandbox = (sandbox: Sandbox): Sandbox =>
    new Proxy(sandbox, {
      get(target, name) {
        if (name === 'workspace') return async (id: string) => faultyTree(await target.workspace(id));
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const available = providers.available.map(
    (provider): SandboxProvider =>
      new Proxy(provider, {
        get(target, name) {
          if (name === 'create') return async (spec: SandboxSpec) => faultySandbox(await target.create(spec));
          const value = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
  );
  return { ...providers, available };
}

describe('an exception while a command runs', () => {
  const SESSION = 'ses_00000000000000000000000001';

  async function openFaulty(fault: Parameters<typeof faultyProviders>[1]) {
    const { log, lines } = captureLog();
    const providers = openSimulatedProviders();
    const shell = await openShellRunner({
      log,
      sandboxes: (clock) => faultyProviders(providers.providers(clock), fault),
    });
    return {
      shell,
      errors: () => lines.filter(({ level }) => level === 'error'),
      async [Symbol.asyncDispose]() {
        await shell[Symbol.asyncDispose]();
        providers[Symbol.dispose]();
      },
    };
  }

  it.each(['clear', 'scan'] as const)(
    'in our own code in %s is logged and is not reported to the model as a lost sandbox',
    async (method) => {
      const fault = { method, error: new TypeError("Cannot read properties of undefined (reading 'x')") };
      await using faulty = await openFaulty(fault);
      expect(await faulty.shell.run(SESSION, 'echo hi > f')).toMatchObject([
        {
          output: 'The tool failed because of an internal error. Whether it took effect is unknown.',
          is_error: true,
        },
      ]);
      expect(faulty.errors()).toMatchObject([
        { session_id: SESSION, tool: 'bash', tool_use_id: 'call_1_1', err: { type: 'TypeError' } },
      ]);
    },
  );

  it('that loses the sandbox is logged with its cause', async () => {
    const error = Object.assign(new Error('EIO: i/o error, rm'), { code: 'EIO', syscall: 'rm' });
    await using faulty = await openFaulty({ method: 'clear', error });
    expect(await faulty.shell.run(SESSION, 'echo hi')).toMatchObject([
      { output: 'The sandbox was lost. No command was run.', is_error: true },
    ]);
    expect(faulty.errors()).toMatchObject([{ session_id: SESSION, tool: 'bash', tool_use_id: 'call_1_1' }]);
    expect(JSON.stringify(faulty.errors())).toContain('EIO: i/o error, rm');
  });
});

describe('a tool call whose result cannot be recorded', () => {
  /** The journal is JSON, which cannot hold a BigInt. */
  const UNRECORDABLE = new ToolOutput('done', { workspaceVersion: 1n as unknown as number });

  const dispatched = (journal: Journal) =>
    dataOf(journal, 'agent.tool_dispatched').map(({ tool_use_id }) => tool_use_id);

  it('aborts its siblings, waits for them and then fails the turn', async () => {
    const tool = createRecordingTool();
    const fail = Promise.withResolvers<void>();
    let isSiblingRunning = true;
    let outcomesAtAbort: number | undefined;
    tool.answer = async (label, { signal }) => {
      if (label === 'fails') {
        await fail.promise;
        return UNRECORDABLE;
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      // A command needs a moment to end.
      await pause(50);
      outcomesAtAbort = fixture.sessions.journalOf('trn_1').outcomes.length;
      isSiblingRunning = false;
      throw new Error('stopped');
    };
    await using fixture = await openTestRunner({ tools: [tool.tool] });
    fixture.queueTurns(calling('fails', 'sibling'), queuedTurn('trn_1', ''));
    await until('both run', () => tool.runs.length === 2);
    fail.resolve();
    const journal = await fixture.waitForOutcome('trn_1');
    expect(isSiblingRunning).toBe(false);
    expect(outcomesAtAbort).toBe(0);
    expect(outcomeOf(journal)).toMatchObject(FAILED);
    expect(dataOf(journal, 'agent.tool_result')).toEqual([]);
  });

  it('does not dispatch siblings that wait for their place in the order', async () => {
    const read = createRecordingTool({ name: 'look', effect: 'read', usesWorkspace: true });
    const write = createRecordingTool({ name: 'touch', usesWorkspace: true });
    const bad = createRecordingTool({ name: 'bad', effect: 'read' });
    const release = Promise.withResolvers<string>();
    read.answer = () => release.promise;
    bad.answer = () => UNRECORDABLE;
    await using fixture = await openTestRunner({ tools: [read.tool, write.tool, bad.tool] });
    const calls = ['look', 'touch', 'bad'].map((tool) => ({ tool, input: { label: tool } }));
    fixture.queueTurns(script(...calls), queuedTurn('trn_1', ''));
    await until('the read is aborted', () => read.runs[0]?.call.signal.aborted);
    release.resolve('read');
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dispatched(journal).toSorted()).toEqual(['call_1_1', 'call_1_3']);
    expect(write.runs).toEqual([]);
    expect(outcomeOf(journal)).toMatchObject(FAILED);
  });

  it('fails the turn after a limit when a sibling ignores its abort signal', async () => {
    const tool = createRecordingTool();
    tool.answer = (label) => (label === 'fails' ? UNRECORDABLE : new Promise(() => {}));
    await using fixture = await openTestRunner({ tools: [tool.tool] });
    fixture.queueTurns(calling('sibling', 'fails'), queuedTurn('trn_1', ''));
    await until('the sibling is aborted', () => tool.runs[0]?.call.signal.aborted);
    await fixture.advanceUntil(
      'the turn fails',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      1_000,
    );
    expect(outcomeOf(fixture.sessions.journalOf('trn_1'))).toMatchObject(FAILED);
    expect(typesOf(fixture.sessions.journalOf('trn_1'))).not.toContain('agent.tool_result');
  });
});
