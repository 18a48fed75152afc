import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { openStage, type Scene, type Stage, seriousFindings } from './stage.ts';

const LONG = `Support مساعد الدعم 🤖 ${'and on '.repeat(8)}${'unbroken'.repeat(8)}`;
/** Of the default environment. */
const ENVIRONMENT = 'env_00000000000000000000000000';

describe('pages of the console are without a serious finding of axe, and no wider than a phone', () => {
  let stage: Stage;
  let scene: Scene;
  const ids = { agent: '', assistant: '' };
  beforeAll(async () => {
    stage = await openStage();
    ids.agent = await stage.api.createAgent({ name: LONG });
    await stage.api.send('PATCH', `/agents/${ids.agent}`, { system: 'Two\nlines' });
    const { body } = await stage.api.post('/assistants', { name: LONG, model: 'rehearsal/echo' });
    ids.assistant = String(body.data.assistant_id);
    scene = await stage.open('/agents');
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  it.each([
    ['/agents', LONG],
    ['/agents/new', 'Create agent'],
    ['/agents/:agent', 'Metadata'],
    ['/agents/:agent?tab=versions', 'From'],
    ['/agents/:agent?tab=access', 'Listed'],
    ['/agents/:agent?tab=triggers', 'New trigger'],
    ['/assistants', LONG],
    ['/assistants/:assistant', 'Enabled'],
    ['/assistants/:assistant?tab=files', 'There are no files yet'],
    ['/environments', 'Enabled'],
    ['/environments/new', 'Create environment'],
    [`/environments/${ENVIRONMENT}`, 'Variables'],
    ['/administration', 'There now'],
    ['/administration?tab=audit', 'Read the audit log'],
    ['/administration?tab=configuration&q=SERVICE_P', 'SERVICE_PORT'],
    ['/tokens', 'asks for no token'],
  ])('%s', async (path, sight) => {
    const { page } = scene;
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(path.replace(':agent', ids.agent).replace(':assistant', ids.assistant));
    await page.getByRole('main').getByText(sight).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    const overhang = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    await until('nothing is wider than 360 px', async () => (await overhang()) <= 0);
    expect(scene.complaints).toEqual([]);
  });
});
