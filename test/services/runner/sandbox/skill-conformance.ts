import { expect, it } from 'vitest';
import type { ProviderFixture } from './conformance.ts';
import { runScript, SandboxFixture } from './run-script.ts';
import { openSkillDirectory } from './space-fixture.ts';
import { bytes, PLAIN } from './workspace-fixture.ts';

/** Attempts to change a skill, each a command of its own. */
const CHANGES = [
  'echo changed > /skills/forms/SKILL.md',
  'echo changed >> /skills/forms/SKILL.md',
  'touch /skills/forms/new',
  'mkdir /skills/forms/new',
  'mkdir /skills/other',
  'rm /skills/forms/SKILL.md',
  'rm -r /skills/forms/scripts',
  'chmod 777 /skills/forms/SKILL.md',
  'chmod 777 /skills/forms',
  'mv /skills/forms/SKILL.md /workspace',
  'ln /skills/forms/SKILL.md /workspace/linked',
  'ln -s /etc /skills/forms/link',
  'echo x > own; mv own /skills/forms/SKILL.md',
  'ln -s /skills/forms/SKILL.md alias; echo changed > alias',
];

/** Defines the tests about skills that every provider must pass. */
export function defineSkillConformance(fixture: () => ProviderFixture): void {
  const openSandboxes = () => new SandboxFixture(fixture().provider);

  async function makeCopy(text: string): Promise<string> {
    const directory = openSkillDirectory(fixture().skills);
    return directory.create(
      async (tree) => {
        await tree.putFile('SKILL.md', bytes(text), PLAIN);
        await tree.makeDirectory('scripts');
        const script = '#!/bin/sh\ncat /skills/forms/SKILL.md "$1"\n';
        await tree.putFile('scripts/fill.sh', bytes(script), { ...PLAIN, executable: true });
      },
      async () => {},
    );
  }

  it('shows a command the files of its skills, whose scripts it can run', async () => {
    await using sandboxes = openSandboxes();
    const sandbox = await sandboxes.create();
    const skills = [
      { name: 'forms', copy: await makeCopy('Use ink.\n') },
      { name: 'letters', copy: await makeCopy('Be polite.\n') },
    ];
    const script = [
      'ls /skills; cat /skills/*/SKILL.md',
      'echo workspace > file; bash /skills/forms/scripts/fill.sh file',
      'cd /skills/forms; stat -c %A SKILL.md scripts/fill.sh .',
      'cp SKILL.md /workspace/copied && cat /workspace/copied',
    ].join('; ');
    expect((await runScript(sandbox, script, { skills })).stdout.trim().split('\n')).toEqual([
      ...['forms', 'letters', 'Use ink.', 'Be polite.', 'Use ink.', 'workspace'],
      ...['-r--r--r--', '-r-xr-xr-x', 'dr-xr-xr-x', 'Use ink.'],
    ]);
  });

  it('refuses all changes of a skill', async () => {
    await using sandboxes = openSandboxes();
    const sandbox = await sandboxes.create();
    const skills = [{ name: 'forms', copy: await makeCopy('Use ink.\n') }];
    for (const script of CHANGES) {
      const { end } = await runScript(sandbox, script, { skills });
      expect([script, end.exitCode === 0]).toEqual([script, false]);
    }
    const script =
      'cat /skills/forms/SKILL.md; ls /skills /skills/forms | grep -v :; stat -c %A /skills/forms';
    const { stdout } = await runScript(sandbox, script, { skills });
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual([
      ...['Use ink.', 'forms', 'SKILL.md', 'scripts', 'dr-xr-xr-x'],
    ]);
  });

  it('shows a skill to no other command, in the same sandbox and in another one', async () => {
    await using sandboxes = openSandboxes();
    const [sandbox, other] = [await sandboxes.create(), await sandboxes.create()];
    const mark = 'a-mark-of-the-skill';
    const skills = [{ name: 'forms', copy: await makeCopy(mark) }];
    const own = [{ name: 'letters', copy: await makeCopy('Be polite.') }];
    expect((await runScript(sandbox, 'cat /skills/forms/SKILL.md', { skills })).stdout).toBe(mark);
    const search =
      'cat /skills/forms/SKILL.md; ls / /skills; cat /skills/*/SKILL.md; cat /skill-copies/*/files/SKILL.md';
    for (const one of [sandbox, other]) {
      expect((await runScript(one, 'ls /skills')).end.exitCode).not.toBe(0);
      const without = await runScript(one, search);
      expect(without.stdout).not.toMatch(/a-mark|forms|letters|skill/);
      const { stdout } = await runScript(one, search, { skills: own });
      expect(stdout).toContain('Be polite.');
      expect(stdout).not.toMatch(/a-mark|forms|skill-copies/);
    }
  });
}
