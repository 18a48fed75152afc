import { mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skillFile, skillZip, tarGzOf, zipOf } from '../../services/agents/skills/archives.ts';
import { axeViolations, type ConsoleFixture, fitsWindow, startConsole, tabTo } from './console-fixture.ts';

/** The folder for pictures of the pages; without it none are taken. */
const PICTURES = process.env.SERVICE_TEST_PICTURES;
const ZIP = 'application/zip';

describe('skill pages', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
    if (PICTURES) await mkdir(PICTURES, { recursive: true });
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  /** Checks a page in both themes and at the width of a phone. */
  async function inspect(page: Page, name: string): Promise<void> {
    await picture(page, name);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `${name}-dark`);
    await page.setViewportSize({ width: 360, height: 800 });
    await fitsWindow(page);
    await picture(page, `${name}-phone`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  }
  const choose = (page: Page, name: string, buffer: Buffer) =>
    page.getByLabel('Archive of the skill').setInputFiles({ name, mimeType: '', buffer });

  /** Drops files on the area for archives. */
  async function drop(page: Page, ...files: { name: string; bytes: Buffer }[]): Promise<void> {
    const entries = files.map(({ name, bytes }) => ({ name, base64: bytes.toString('base64') }));
    const data = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      for (const { name, base64 } of ${JSON.stringify(entries)})
        data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      return data;
    })()`);
    const area = page.getByText('Drop a zip, tar or tar.gz archive');
    for (const event of ['dragover', 'drop']) await area.dispatchEvent(event, { dataTransfer: data });
  }

  async function publish(bytes: Buffer, skillId?: string): Promise<string> {
    const path = skillId === undefined ? '' : `/${skillId}/versions`;
    const response = await fetch(`${fixture.system.url}/api/v1/admin/skills${path}`, {
      method: 'POST',
      headers: { 'Content-Type': ZIP },
      body: new Uint8Array(bytes),
    });
    const { data } = JSON.parse(await response.text());
    return String(data.skill_id);
  }

  it('show problems by their path and create a skill from a dropped archive', async () => {
    const { page, consoleMessages } = await fixture.open('/skills');
    await page.getByText('No skills yet.').waitFor();
    await page.keyboard.press('n');
    await page.getByRole('heading', { level: 1, name: 'New skill' }).waitFor();
    const problem = page.getByRole('alert');

    await drop(page, { name: 'notes.md', bytes: Buffer.from('# Notes') });
    await problem.getByText('The file is no zip, tar or tar.gz archive.').waitFor();
    await drop(page, { name: 'a.zip', bytes: skillZip('a') }, { name: 'b.zip', bytes: skillZip('b') });
    await problem.getByText('Drop one archive.').waitFor();

    const files = [
      { name: 'refunds/SKILL.md', data: skillFile('refunds') },
      { name: 'refunds/../evil.sh', data: 'echo' },
    ];
    await drop(page, { name: 'evil.zip', bytes: zipOf(files) });
    await problem.getByText('The archive was refused. Nothing was stored.').waitFor();
    expect(await problem.locator('code').textContent()).toBe('refunds/../evil.sh');
    await inspect(page, 'skill-problem');

    const good = await tarGzOf([
      { name: 'refunds/SKILL.md', data: skillFile('refunds', ['description: Rules.', 'license: MIT']) },
      { name: 'refunds/run.sh', data: 'echo\u200b refund\n', mode: 0o755 },
      { name: 'refunds/.DS_Store', data: 'x' },
    ]);
    await drop(page, { name: 'refunds.tgz', bytes: good });
    await page.getByRole('heading', { level: 1, name: 'refunds' }).waitFor();
    const warnings = page.getByRole('region', { name: 'Warnings' });
    expect(await warnings.textContent()).toContain('refunds/.DS_Store');
    await page.getByRole('rowheader', { name: 'SKILL.md' }).waitFor();
    const script = page.getByRole('row', { name: /run\.sh/ });
    expect(await script.textContent()).toContain('Executable');
    await inspect(page, 'skill');

    await tabTo(page, page.getByRole('link', { name: 'run.sh' }));
    await page.keyboard.press('Enter');
    const text = page.getByRole('region', { name: 'Content of run.sh' });
    await text.getByText('U+200B').waitFor();
    await page.getByRole('heading', { name: 'run.sh' }).and(page.locator(':focus')).waitFor();
    await inspect(page, 'skill-file');
    await page.getByRole('link', { name: 'All files' }).click();
    await page.getByRole('rowheader', { name: 'SKILL.md' }).waitFor();
    expect(consoleMessages.filter((message) => !message.includes('status of 400'))).toEqual([]);
    await page.context().close();
  });

  it('publish a version, tell an equal archive and compare two versions', async () => {
    const skillId = await publish(skillZip('letters', { 'rules.md': 'one\ntwo\nthree\n', old: 'x' }));
    const { page } = await fixture.open(`/skills/${skillId}`);
    const publishing = page.getByRole('button', { name: 'New version' });
    const dialog = page.getByRole('dialog', { name: 'New version' });
    await publishing.click();
    await dialog.waitFor();
    await choose(page, 'other.zip', skillZip('another'));
    await dialog.getByRole('alert').getByText('must have the name of the skill').waitFor();
    await inspect(page, 'skill-version');
    await choose(page, 'same.zip', skillZip('letters', { 'rules.md': 'one\ntwo\nthree\n', old: 'x' }));
    await page.getByText('Version 1 has the same files. No version was published.').first().waitFor();
    await dialog.waitFor({ state: 'detached' });

    await publishing.click();
    const changed = zipOf([
      { name: 'letters/SKILL.md', data: skillFile('letters', ['description: Writes short letters.']) },
      { name: 'letters/rules.md', data: 'one\nsecond\nthree\n' },
      { name: 'letters/new.sh', data: 'echo', mode: 0o100755 },
    ]);
    await choose(page, 'letters.zip', changed);
    await page.getByText('Version 2 was published.').first().waitFor();
    await page.getByRole('rowheader', { name: 'new.sh' }).waitFor();

    await page.getByRole('tab', { name: 'Versions' }).click();
    const changes = page.getByRole('list', { name: 'Changed files' });
    const entry = (name: string) => changes.getByRole('listitem').filter({ hasText: name });
    await changes.waitFor();
    expect(await changes.getByRole('listitem').count()).toBe(4);
    await page.getByRole('region', { name: 'Description for the model' }).locator('ins').first().waitFor();
    await entry('new.sh').getByText('Added', { exact: true }).waitFor();
    await entry('new.sh').getByText('Executable', { exact: true }).waitFor();
    await entry('old').getByText('Removed', { exact: true }).waitFor();
    const rules = entry('rules.md').getByRole('button');
    if ((await rules.getAttribute('aria-expanded')) === 'false') await rules.click();
    await entry('rules.md').getByRole('insertion').getByText('second').waitFor();
    await entry('rules.md').getByRole('deletion').getByText('two').waitFor();
    await inspect(page, 'skill-comparison');
    await page.context().close();
  });

  it('show the progress of an upload, cancel it and send the archive again', async () => {
    const { page } = await fixture.open('/skills/new');
    await page.clock.install();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const keys: (string | undefined)[] = [];
    await page.route('**/api/v1/admin/skills', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length === 1) await held;
      if (keys.length === 2) return route.abort('connectionfailed');
      return route.continue();
    });
    const archive = skillZip('slow');
    await choose(page, 'slow.zip', archive);
    const progress = page.getByRole('progressbar', { name: 'Upload of slow.zip' });
    await progress.waitFor();
    // An upload has no overall time limit.
    await page.clock.fastForward('10:00');
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    expect(await progress.count()).toBe(1);
    expect(await page.getByRole('alert').count()).toBe(0);
    await inspect(page, 'skill-upload');
    await page.getByRole('button', { name: 'Cancel' }).click();
    const chooser = page.getByRole('button', { name: 'Choose an archive' });
    await chooser.and(page.locator(':focus')).waitFor();
    release();
    await choose(page, 'slow.zip', archive);
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.getByRole('button', { name: 'Send slow.zip again' }).click();
    await page.getByRole('heading', { level: 1, name: 'slow' }).waitFor();
    expect(keys).toHaveLength(3);
    expect(keys[2]).toBe(keys[1]);
    await page.context().close();
  });

  it('move an agent to a newer version, show it in the session and explain why it cannot be deleted', async () => {
    const skillId = await publish(skillZip('moved', { rules: '1' }));
    const agentId = await fixture.api.createAgent({ name: 'Mover' });
    const { page } = await fixture.open(`/agents/${agentId}?tab=extensions`);
    await page.getByRole('checkbox', { name: 'moved' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    await publish(skillZip('moved', { rules: '2' }), skillId);
    await page.reload();
    await page.getByText('Newer version 2').waitFor();
    await inspect(page, 'skill-newer');
    const move = page.getByRole('button', { name: 'Move to version 2 of moved' });
    await tabTo(page, move);
    await page.keyboard.press('Enter');
    await page.getByText('Moves from version 1 to 2.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Moves from version 1 to 2.').waitFor({ state: 'detached' });
    const { body } = await fixture.api.get(`/agents/${agentId}/extensions`);
    expect(body.data.skill_ids).toEqual([`${skillId}@2`]);

    const { body: vault } = await fixture.api.post('/admin/vaults', { name: 'Deployment' });
    const variable = { type: 'environment_variable', name: 'GITHUB_TOKEN', value: 'a-secret-of-some-length' };
    const allowed = { allowed_hosts: ['api.github.com'] };
    const vaultId = String(vault.data.vault_id);
    await fixture.api.post(`/admin/vaults/${vaultId}/credentials`, { ...variable, ...allowed });
    await fixture.api.send('PUT', `/admin/agents/${agentId}/vaults`, { vault_ids: [vaultId] });
    const begun = await fixture.api.post(`/agents/${agentId}/conversations`, { message: 'Hello' });
    await fixture.api.send('PATCH', `/admin/skills/${skillId}`, { enabled: false });
    await page.goto(`/sessions/${begun.body.data.session_id}`);
    await page.getByRole('button', { name: 'Session actions' }).click();
    await page.getByRole('menuitem', { name: 'Available extensions' }).click();
    const panel = page.getByRole('dialog', { name: 'Available extensions' });
    await panel.getByText('An administrator has disabled the skill.').waitFor();
    expect(await panel.getByRole('list', { name: 'Skills' }).textContent()).toContain('Version 2');
    const variables = panel.getByRole('list', { name: 'Variables' });
    expect(await variables.textContent()).toMatch(/GITHUB_TOKEN.*api\.github\.com/);
    await inspect(page, 'session-extensions');

    // The answer while the vaults service cannot be reached.
    await page.route('**/extensions', async (route) => {
      const answer = await (await route.fetch()).json();
      Object.assign(answer.data, { variables: [], credentials_available: false });
      await route.fulfill({ json: answer });
    });
    await page.reload();
    await page.getByRole('button', { name: 'Session actions' }).click();
    await page.getByRole('menuitem', { name: 'Available extensions' }).click();
    await panel.getByText('Unknown, because credentials cannot be read now.').waitFor();
    await page.unroute('**/extensions');

    await page.goto(`/skills/${skillId}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A skill of an agent or assistant cannot be deleted').waitFor();
    await dialog.getByRole('button', { name: 'Delete skill' }).click();
    await dialog.getByRole('alert').filter({ hasText: '1 agent or assistant' }).waitFor();
    await inspect(page, 'skill-in-use');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('button', { name: 'Enable skill' }).click();
    await page.getByText('Enabled', { exact: true }).waitFor();
    await fixture.api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [], skill_ids: [] });
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete skill' }).click();
    await page.waitForURL(/\/skills$/);
    await page.context().close();
  });
});
