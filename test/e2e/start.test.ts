import { readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanUpPlaces, createPlace, type Place } from '../support/programs.ts';
import { until } from '../support/wait.ts';

describe('the first start', () => {
  cleanUpPlaces();

  it('serves, and says where, on what, and how to begin', async () => {
    const place = await createPlace();
    const program = await place.start();
    await until('the banner is there', () => program.output().includes('Ctrl-C'));
    expect(program.output()).toContain(`open      ${place.api.origin}\n`);
    expect(program.output()).toContain(`API       ${place.api.origin}/docs\n`);
    expect(program.output()).toContain('PostgreSQL 18, embedded');
    expect(program.output()).toContain(`curl ${place.api.origin}/api/v1/agents`);
    const command = /Try it\n(.*?)\n\n/s.exec(program.output())?.[1] ?? '';
    expect(command.split('\n').filter((line) => line.length > 80)).toEqual([]);
    for (const path of ['/', '/docs']) expect((await fetch(place.api.origin + path)).status).toBe(200);
  });

  it('makes secrets that only this user can read, which the next start uses again', async () => {
    const place = await createPlace();
    const program = await place.start();
    const webhook = await place.api.createWebhook(await place.api.createAgent());
    const secrets = await readSecrets(place);
    expect(secrets.map(({ name, mode }) => [name, mode])).toEqual([
      ['sealing-key', 0o600],
      ['service-secret', 0o600],
    ]);
    program.kill('SIGTERM');
    await program.exited;
    await place.start();
    expect(await readSecrets(place)).toEqual(secrets);
    expect((await place.api.trigger(webhook, 'still known?')).status).toBe(200);
  });

  it('can be given up at any moment, and the next one makes good what is missing', async () => {
    const place = await createPlace();
    for (const made of ['lock', 'postgres', 'postgres/cluster', 'secrets']) {
      const program = place.run();
      await until(`${made} is there`, () => stat(join(place.dataDir, made)).catch(() => undefined));
      program.kill('SIGTERM');
      // Before it has taken anything, the signal itself ends it.
      expect([0, null]).toContain(await program.exited);
    }
    await place.start();
    await place.api.createAgent();
  });
});

async function readSecrets({ dataDir }: Place) {
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

describe('a directory of files that cannot be used', () => {
  cleanUpPlaces();

  it('is said by readiness, until it can be', async () => {
    const place = await createPlace();
    await place.start();
    const drafts = join(place.dataDir, 'blobs/drafts');
    await rename(drafts, `${drafts}.away`);
    const answer = await fetch(`${place.api.origin}/readyz?verbose`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('the place where files are kept cannot be reached');
    await rename(`${drafts}.away`, drafts);
    expect(await place.isReady()).toBe(true);
  });
});
