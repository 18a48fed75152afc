import { readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanUpInstallations, createInstallation, type Installation } from '../support/installations.ts';
import { until } from '../support/wait.ts';

describe('the first start', () => {
  cleanUpInstallations();

  it('prints the URL, the parts in use and a first request', async () => {
    const installation = await createInstallation();
    const program = await installation.start();
    await until('the banner is there', () => program.output().includes('Ctrl-C'));
    expect(program.output()).toContain(`open      ${installation.api.origin}\n`);
    expect(program.output()).toContain(`API       ${installation.api.origin}/docs\n`);
    expect(program.output()).toContain('PostgreSQL 18, embedded');
    expect(program.output()).toContain(`curl ${installation.api.origin}/api/v1/agents`);
    const command = /Try it\n(.*?)\n\n/s.exec(program.output())?.[1] ?? '';
    expect(command.split('\n').filter((line) => line.length > 80)).toEqual([]);
    for (const path of ['/', '/docs']) expect((await fetch(installation.api.origin + path)).status).toBe(200);
  });

  it('creates secrets readable by the user only, and reuses them', async () => {
    const installation = await createInstallation();
    const program = await installation.start();
    const webhook = await installation.api.createWebhook(await installation.api.createAgent());
    const secrets = await readSecrets(installation);
    expect(secrets.map(({ name, mode }) => [name, mode])).toEqual([
      ['sealing-key', 0o600],
      ['service-secret', 0o600],
    ]);
    program.kill('SIGTERM');
    await program.exited;
    await installation.start();
    expect(await readSecrets(installation)).toEqual(secrets);
    expect((await installation.api.trigger(webhook, 'still known?')).status).toBe(200);
  });

  it('may be aborted at any moment, and the next start completes the installation', async () => {
    const installation = await createInstallation();
    for (const made of ['lock', 'postgres', 'postgres/cluster', 'secrets']) {
      const program = installation.run();
      await until(`${made} exists`, () => stat(join(installation.dataDir, made)).catch(() => undefined));
      program.kill('SIGTERM');
      // Before the program has installed its signal handler, the signal itself ends it.
      expect([0, null]).toContain(await program.exited);
    }
    await installation.start();
    await installation.api.createAgent();
  });
});

async function readSecrets({ dataDir }: Installation) {
  const folder = join(dataDir, 'secrets');
  const names = (await readdir(folder)).sort();
  return Promise.all(
    names.map(async (name) => ({
      name,
      mode: (await stat(join(folder, name))).mode & 0o777,
      text: await readFile(join(folder, name), 'utf8'),
    })),
  );
}

describe('an unusable directory for file contents', () => {
  cleanUpInstallations();

  it('makes the service degraded until it is usable', async () => {
    const installation = await createInstallation();
    await installation.start();
    const drafts = join(installation.dataDir, 'blobs/drafts');
    await rename(drafts, `${drafts}.away`);
    const read = async () => (await fetch(`${installation.api.origin}/readyz?verbose`)).text();
    const degraded = await until('the service is degraded', async () => {
      const text = await read();
      return text.includes('"status":"degraded"') && text;
    });
    expect(degraded).toContain('The file storage cannot be reached.');
    await rename(`${drafts}.away`, drafts);
    expect(await read()).toContain('"status":"ready"');
  });
});
