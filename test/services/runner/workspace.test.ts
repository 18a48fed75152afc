import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { script } from './runner-fixture.ts';
import { OWNER, openWorkspaceSystem, type WorkspaceSystem } from './workspace-system.ts';

const caller = OWNER;

/** Starts a session that runs these commands and waits until it is idle. Returns its id. */
async function startCommands(system: WorkspaceSystem, ...commands: string[]): Promise<string> {
  const session = await system.startSession(commands.map((command) => `$ ${command}`).join('\n'));
  await system.waitUntilIdle(session);
  return session;
}

describe('a workspace in the files service and in the sandbox', () => {
  it('are equal after each command, which makes one version that its result names', async () => {
    await using system = await openWorkspaceSystem();
    const session = await startCommands(
      system,
      'mkdir -p a/b; echo one > a/b/f; ln -s a/b/f link',
      'cat link; rm -r a',
      'ls',
    );
    expect(await system.results(session)).toMatchObject([
      { output: '', workspace_version: 1 },
      { output: 'one\n', workspace_version: 2 },
      { output: 'link\n', workspace_version: 2 },
    ]);
    expect(await system.tree(session)).toEqual({ link: null });
    await until('the deletion is journaled', async () => {
      const fileEvents = (await system.journal(session)).filter(({ type }) => type.startsWith('file.'));
      return fileEvents.some(({ type, data }) => type === 'file.deleted' && data.workspace_version === 2);
    });
    const environment = (await system.journal(session)).filter(({ type }) => type.startsWith('environment.'));
    expect(environment.map(({ data }) => [data.from, data.to])).toEqual([
      ['none', 'provisioning'],
      ['provisioning', 'ready'],
    ]);
    const { session: current } = await system.sessions.getSession({ sessionId: session }, { caller });
    expect(current).toMatchObject({ environmentStatus: 'ready', sandboxProvider: 'simulated' });
  });

  it('are synchronized with uploads between two commands', async () => {
    await using system = await openWorkspaceSystem();
    const session = await startCommands(system, 'echo one > f');
    expect(await system.upload(session, { f: 'two', 'd/g': 'three' })).toBe(2);
    await system.sendMessage(session, '$ cat f d/g');
    expect((await system.results(session)).at(-1)).toMatchObject({
      output: 'twothree',
      workspace_version: 2,
    });

    expect(await system.tree(session)).toEqual({ f: 'two', d: null, 'd/g': 'three' });
  });

  it('keep a concurrent upload and save the output of the command as a conflict file', async () => {
    await using system = await openWorkspaceSystem();
    const session = await startCommands(system, 'echo old > f; echo old > gone');
    const answered = system.sendMessage(
      session,
      '$ rm gone; echo mine > f; touch runs; while [ ! -e go ]; do sleep 0.02; done; rm go runs',
    );
    const runs = await until('the command runs', () =>
      system.simulated.files().find((path) => path.endsWith('/runs')),
    );
    await system.upload(session, { f: 'theirs', gone: 'theirs too', other: 'new' });
    writeFileSync(join(dirname(runs), 'go'), '');
    await answered;
    expect((await system.results(session)).at(-1)).toMatchObject({
      output:
        '[gone was changed by another writer at the same time, so it was not removed.]\n' +
        '[f was changed by another writer at the same time. Your version was saved as f.conflict-v1.]',
      is_error: false,
      workspace_version: 3,
    });
    await system.sendMessage(session, '$ cat f gone other f.conflict-v1');
    expect((await system.results(session)).at(-1)).toMatchObject({ output: 'theirstheirs toonewmine\n' });
  });

  it('drop the changes of an interrupted command', async () => {
    await using system = await openWorkspaceSystem();
    const session = await startCommands(system, 'echo kept > f');
    const answered = system.sendMessage(
      session,
      '$ echo lost > f; touch runs; while true; do sleep 0.02; done',
    );
    await until('the command runs', () => system.simulated.files().some((path) => path.endsWith('/runs')));
    await system.sessions.interruptSession({ sessionId: session }, { caller });
    await answered;
    await system.sendMessage(session, '$ cat f; ls');
    expect((await system.results(session)).at(-1)).toMatchObject({
      output: 'kept\nf\n',
      workspace_version: 1,
    });
  });

  it('can hold a thousand files', async () => {
    await using system = await openWorkspaceSystem();
    const session = await startCommands(system, 'true');
    const files = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [
        `src/part-${i % 20}/module-${i}.ts`,
        `export const n = ${i};\n`,
      ]),
    );
    await system.upload(session, files);
    await system.sendMessage(
      session,
      '$ rm -r src/part-7; echo changed > src/part-3/module-3.ts; mv src/part-1 moved',
    );
    await system.sendMessage(
      session,
      '$ find . -type f | wc -l; cat src/part-3/module-3.ts moved/module-1.ts',
    );
    const last = (await system.results(session)).at(-1);
    expect(String(last?.output).trim()).toBe('950\nchanged\nexport const n = 1;');
    const { workspace } = await system.files.getWorkspace(
      { place: { of: { $case: 'sessionId', value: session } } },
      { caller },
    );
    expect(workspace).toMatchObject({ files: 950, version: 2 });
  });
});

describe('the file tools', () => {
  it('use the same workspace as commands', async () => {
    await using system = await openWorkspaceSystem();
    const steps = [
      { tool: 'write_file', input: { path: 'src/a.txt', content: 'one\ntwo\n' } },
      { text: 'go on' },
      { tool: 'bash', input: { command: 'cat src/a.txt; chmod +x src/a.txt; echo x > src/b.txt' } },
      { text: 'go on' },
      { tool: 'edit_file', input: { path: 'src/a.txt', old_text: 'two', new_text: 'three' } },
      { text: 'go on' },
      { tool: 'read_file', input: { path: 'src/a.txt' } },
      { text: 'go on' },
      { tool: 'list_files', input: { recursive: true } },
      { text: 'go on' },
      { tool: 'search_files', input: { pattern: '^t', glob: '*.txt' } },
      { text: 'go on' },
      { tool: 'bash', input: { command: 'cat src/a.txt' } },
      { text: 'done' },
    ];
    const session = await system.startSession('go', script(...steps));
    await system.waitUntilIdle(session);
    expect(await system.results(session)).toMatchObject([
      { output: 'Wrote 8 bytes to src/a.txt.', workspace_version: 1 },
      { output: 'one\ntwo\n', workspace_version: 2 },
      { output: 'Replaced 1 place in src/a.txt: line 2.', workspace_version: 3 },
      { output: '1\tone\n2\tthree' },
      { output: 'src/\nsrc/a.txt\t10 bytes, executable\nsrc/b.txt\t2 bytes' },
      { output: 'src/a.txt:2: three' },
      { output: 'one\nthree\n', workspace_version: 3 },
    ]);
  });
});
