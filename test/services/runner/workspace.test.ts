import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { type HouseUnderTest, OWNER, openHouse } from './house.ts';
import { script } from './open.ts';

const caller = OWNER;

/** The session's commands, whose text is a script for them. */
async function shell(house: HouseUnderTest, ...commands: string[]): Promise<string> {
  const session = await house.begin(commands.map((command) => `$ ${command}`).join('\n'));
  await house.idle(session);
  return session;
}

describe('a workspace, its keeper and the commands that change it', () => {
  it('are the same after each command, in one version each, and the journal tells of it', async () => {
    await using house = await openHouse();
    const session = await shell(
      house,
      'mkdir -p a/b; echo one > a/b/f; ln -s a/b/f link',
      'cat link; rm -r a',
      'ls',
    );
    expect(await house.results(session)).toMatchObject([
      { output: '', workspace_version: 1 },
      { output: 'one\n', workspace_version: 2 },
      { output: 'link\n', workspace_version: 2 },
    ]);
    expect(await house.tree(session)).toEqual({ link: null });
    await until('the journal tells of the files', async () => {
      const told = (await house.journal(session)).filter(({ type }) => type.startsWith('file.'));
      return told.some(({ type, data }) => type === 'file.deleted' && data.workspace_version === 2);
    });
    const environment = (await house.journal(session)).filter(({ type }) => type.startsWith('environment.'));
    expect(environment.map(({ data }) => [data.from, data.to])).toEqual([
      ['none', 'provisioning'],
      ['provisioning', 'ready'],
    ]);
    const { session: shown } = await house.sessions.getSession({ sessionId: session }, { caller });
    expect(shown).toMatchObject({ environmentStatus: 'ready', sandboxProvider: 'simulated' });
  });

  it('bring what was uploaded between two commands', async () => {
    await using house = await openHouse();
    const session = await shell(house, 'echo one > f');
    expect(await house.upload(session, { f: 'two', 'd/g': 'three' })).toBe(2);
    await house.say(session, '$ cat f d/g');
    expect((await house.results(session)).at(-1)).toMatchObject({ output: 'twothree', workspace_version: 2 });

    expect(await house.tree(session)).toEqual({ f: 'two', d: null, 'd/g': 'three' });
  });

  it('keep what somebody else wrote while a command ran, and put what the command wrote beside it', async () => {
    await using house = await openHouse();
    const session = await shell(house, 'echo old > f; echo old > gone');
    const said = house.say(
      session,
      '$ rm gone; echo mine > f; touch runs; while [ ! -e go ]; do sleep 0.02; done; rm go runs',
    );
    const runs = await until('it runs', () => house.lodgings.files().find((path) => path.endsWith('/runs')));
    await house.upload(session, { f: 'theirs', gone: 'theirs too', other: 'new' });
    writeFileSync(join(dirname(runs), 'go'), '');
    await said;
    expect((await house.results(session)).at(-1)).toMatchObject({
      output:
        '[Somebody else has changed gone meanwhile, so it was not removed.]\n' +
        '[Somebody else has changed f meanwhile and keeps it; what the command wrote is in f.conflict-v1.]',
      is_error: false,
      workspace_version: 3,
    });
    await house.say(session, '$ cat f gone other f.conflict-v1');
    expect((await house.results(session)).at(-1)).toMatchObject({ output: 'theirstheirs toonewmine\n' });
  });

  it('keep nothing of a command that was interrupted', async () => {
    await using house = await openHouse();
    const session = await shell(house, 'echo kept > f');
    const said = house.say(session, '$ echo lost > f; touch runs; while true; do sleep 0.02; done');
    await until('it runs', () => house.lodgings.files().some((path) => path.endsWith('/runs')));
    await house.sessions.interruptSession({ sessionId: session }, { caller });
    await said;
    await house.say(session, '$ cat f; ls');
    expect((await house.results(session)).at(-1)).toMatchObject({
      output: 'kept\nf\n',
      workspace_version: 1,
    });
  });

  it('hold a project of a thousand files', async () => {
    await using house = await openHouse();
    const session = await shell(house, 'true');
    const files = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [
        `src/part-${i % 20}/module-${i}.ts`,
        `export const n = ${i};\n`,
      ]),
    );
    await house.upload(session, files);
    await house.say(
      session,
      '$ rm -r src/part-7; echo changed > src/part-3/module-3.ts; mv src/part-1 moved',
    );
    await house.say(session, '$ find . -type f | wc -l; cat src/part-3/module-3.ts moved/module-1.ts');
    const last = (await house.results(session)).at(-1);
    expect(String(last?.output).trim()).toBe('950\nchanged\nexport const n = 1;');
    const { workspace } = await house.files.getWorkspace(
      { place: { of: { $case: 'sessionId', value: session } } },
      { caller },
    );
    expect(workspace).toMatchObject({ files: 950, version: 2 });
  });
});

describe('the tools for files', () => {
  it('work on the same workspace as the commands', async () => {
    await using house = await openHouse();
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
    const session = await house.begin('go', script(...steps));
    await house.idle(session);
    expect(await house.results(session)).toMatchObject([
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
