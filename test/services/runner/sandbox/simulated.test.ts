import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { createSimulatedProvider } from '../../../../services/runner/sandbox-providers/simulated/provider.ts';
import { describeConformance } from './conformance.ts';
import { runScript, SandboxFixture, sandboxSpec, workspaceIdOf } from './run-script.ts';
import { openSandboxRoot, openSkillDirectory } from './space-fixture.ts';
import { bytes, PLAIN } from './workspace-fixture.ts';

function openSimulated() {
  const base = mkdtempSync(join(tmpdir(), 'ahs-simulated-'));
  const make = () =>
    createSimulatedProvider({
      root: openSandboxRoot(join(base, 'sandboxes'), systemClock),
      skillDirectory: openSkillDirectory(join(base, 'skills')).path,
      clock: systemClock,
    });
  return {
    base,
    provider: make(),
    root: join(base, 'sandboxes'),
    skills: join(base, 'skills'),
    reopen: async () => make(),
    close: async () => rmSync(base, { recursive: true, force: true }),
  };
}

describeConformance('the simulated provider', async () => openSimulated());

describe('createSimulatedProvider', () => {
  it('exposes only the workspace, temporary files and home directory of this machine', async () => {
    const { provider, base, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using sandboxes = new SandboxFixture(provider);
    const sandbox = await sandboxes.create();
    const tree = await sandbox.workspace(workspaceIdOf(sandbox));
    await tree.putSymlink('passwords', '/etc/passwd');
    await tree.putSymlink('up', `${'../'.repeat(20)}etc/passwd`);
    await tree.putSymlink('out', base);
    await tree.putFile('file', bytes('x'), PLAIN);
    const script =
      'cat passwords; cat up; ls out; cat /etc/passwd; cat /proc/1/environ; ls /; env; cat ../../../../etc/passwd';
    const { stdout, stderr } = await runScript(sandbox, script);
    expect(stdout).toContain('workspace');
    expect(stdout + stderr).not.toContain('root:');
    expect(stdout + stderr).not.toContain(base);
    for (const name of Object.keys(process.env).filter((one) => /^(npm_|VITEST|SERVICE_|NODE)/.test(one)))
      expect(stdout).not.toContain(name);
  });

  it('starts no programs and has no network', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using sandboxes = new SandboxFixture(provider);
    const sandbox = await sandboxes.create();
    for (const name of ['node', 'python3', 'curl', 'nc', 'js-exec'])
      expect((await runScript(sandbox, `${name} --version`)).end.exitCode).toBe(127);
  });

  it('passes no state except files to the next command', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using sandboxes = new SandboxFixture(provider);
    const [one, other] = await Promise.all([sandboxes.create(), sandboxes.create()]);
    await runScript(
      one,
      'export SECRET=1; f() { :; }; alias x=ls; cd /tmp; echo secret > /dev/secret; echo secret > /bin/secret',
    );
    const { stdout } = await runScript(other, 'echo "<$SECRET>"; f; x; pwd; cat /dev/secret /bin/secret');
    expect(stdout).toBe('<>\n/workspace\n');
  });

  it('removes symbolic links with existing and with missing targets', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using sandboxes = new SandboxFixture(provider);
    const sandbox = await sandboxes.create();
    const links = 'mkdir d; touch d/f; ln -s nowhere a; ln -s d b; ln -s nowhere c; ln -s d/f e';
    expect((await runScript(sandbox, `${links}; rm a b; rm -f c; rm -r e; ls; ls d`)).stdout).toBe('d\nf\n');
    const { stdout, stderr } = await runScript(sandbox, 'ln -s nowhere a; rm a gone d; echo $?; ls');
    expect(stdout).toBe('1\nd\n');
    expect(stderr).toBe(
      "rm: cannot remove 'gone': No such file or directory\nrm: cannot remove 'd': Is a directory\n",
    );
  });

  it('creates nested directories, but none below a file', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using sandboxes = new SandboxFixture(provider);
    const sandbox = await sandboxes.create();
    const deep = Array.from({ length: 100 }, (_, i) => `d${i}`).join('/');
    const script = `mkdir -p ${deep}; echo x > ${deep}/f; cat ${deep}/f; touch g; ln -s d0 l; mkdir -p l/new; ls d0`;
    expect((await runScript(sandbox, script)).stdout).toBe('x\nd1\nnew\n');
    const { stderr, end } = await runScript(sandbox, 'mkdir -p g/h');
    expect(stderr).toMatch(/^mkdir: cannot create directory 'g\/h': .*not a directory/i);
    expect(end.exitCode).toBe(1);
  });

  it('leaves no files after destroy', async () => {
    const { provider, base, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    const sandbox = await provider.create(sandboxSpec());
    await runScript(sandbox, 'mkdir -p a/b; echo > a/b/c');
    await sandbox.destroy();
    expect(readdirSync(join(base, 'sandboxes'), { recursive: true })).toEqual(['.trash']);
  });
});
