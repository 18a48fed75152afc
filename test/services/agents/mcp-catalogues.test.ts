import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogueText, readCatalogue } from '../../../lib/mcp-catalogue/catalogue.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  ABSENT_SERVER,
  catalogueOf,
  createServer,
  reportCatalogue,
  reviewedServer,
  rulesFor,
} from './mcp-servers.ts';
import { type AgentsSystem, administrator, alice, openAgentsSystem } from './system.ts';

describe.each(TRANSPORTS)('catalogues of MCP servers, %s', (transport) => {
  let agents: AgentsSystem;
  beforeAll(async () => {
    agents = await openAgentsSystem(transport);
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const read = async (mcpServerId: string) =>
    (await agents.edge.getMcpServer({ mcpServerId }, administrator)).mcpServer!;
  const catalogue = (mcpServerId: string, of: string) =>
    agents.edge.getCatalogue({ mcpServerId, of }, administrator);
  const review = (mcpServerId: string, sha256: string, rules = rulesFor('find'), members: object = {}) => {
    const options = { pending: [], offerResources: false, ifRevisions: undefined, ...members };
    const request = { mcpServerId, sha256, rules, ...options };
    return agents.edge.reviewCatalogue(request, administrator);
  };
  const lookUp = async (...mcpServerIds: string[]) =>
    (await agents.as('runner').lookUpMcpServers({ mcpServerIds })).mcpServers;

  it('has no catalogue and refuses a review before one was seen', async () => {
    const { mcpServerId } = await createServer(agents);
    const unreviewed = { code: 'CATALOGUE_UNREVIEWED' };
    await expect(catalogue(mcpServerId, 'reviewed')).rejects.toMatchObject(unreviewed);
    await expect(catalogue(mcpServerId, 'seen')).rejects.toMatchObject(unreviewed);
    await expect(review(mcpServerId, '')).rejects.toMatchObject({ code: 'CATALOGUE_CHANGED' });
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 0, catalogueSha256: '', rules: [] }]);
  });

  it('stores the seen catalogue, and a review of exactly that catalogue', async () => {
    const { mcpServerId } = await createServer(agents);
    const { json, sha256 } = catalogueOf({ find: 'Finds.', keep: 'Keeps.' });
    await reportCatalogue(agents, mcpServerId, json);
    expect(await catalogue(mcpServerId, 'seen')).toMatchObject({ sha256, catalogueJson: json, rules: [] });
    expect((await read(mcpServerId)).catalogue).toMatchObject({ seenSha256: sha256, state: 'unreviewed' });
    const rules = [
      { name: 'keep', offered: false, permission: 'deny', effect: 'once' },
      { name: 'find', offered: true, permission: 'allow', effect: 'read' },
    ];
    const { mcpServer } = await review(mcpServerId, sha256, rules, { offerResources: true });
    expect(mcpServer).toMatchObject({
      title: 'Example',
      revision: 2,
      catalogue: {
        ...{ reviewedSha256: sha256, reviewedBy: administrator.caller.userId, state: 'current' },
        ...{ toolCount: 2, offeredCount: 1 },
      },
    });
    expect(await catalogue(mcpServerId, 'reviewed')).toMatchObject({
      ...{ sha256, catalogueJson: json, rules, offerResources: true },
    });
    const expected = { review: 1, catalogueSha256: sha256, rules, offerResources: true, changedTools: [] };
    expect(await lookUp(mcpServerId)).toMatchObject([{ ...expected, protocolVersion: '2026-07-28' }]);
    expect(await agents.as('runner').getCatalogueBody({ sha256 })).toEqual({ catalogueJson: json });
  });

  it('audits another catalogue as drift once, and names the tools that changed or vanished', async () => {
    const { mcpServerId } = await reviewedServer(agents, { find: 'Finds.', keep: 'Keeps.', stay: 'Stays.' });
    const { auditLog } = agents;
    auditLog.takeActs();
    const { json, sha256 } = catalogueOf({ find: 'Finds and sends.', fresh: 'New.', stay: 'Stays.' });
    await reportCatalogue(agents, mcpServerId, json);
    await reportCatalogue(agents, mcpServerId, json);
    expect(auditLog.takeActs()).toEqual([`${administrator.caller.userId} mcp-server.drift ${mcpServerId}`]);
    expect((await read(mcpServerId)).catalogue).toMatchObject({ seenSha256: sha256, state: 'changed' });
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 1, changedTools: ['find', 'keep'] }]);
    await review(mcpServerId, sha256, rulesFor('find', 'fresh', 'stay'));
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 2, changedTools: [] }]);
    expect((await read(mcpServerId)).catalogue).toMatchObject({ state: 'current' });
  });

  it('keeps changed and new tools pending in a review of the others', async () => {
    const { mcpServerId } = await reviewedServer(agents, { find: 'Finds.', gone: 'Goes.', stay: 'Stays.' });
    const seen = catalogueOf({ find: 'Finds and sends.', fresh: 'New.', stay: 'Stays.' });
    await reportCatalogue(agents, mcpServerId, seen.json);
    const stay = { name: 'stay', offered: true, permission: 'allow', effect: 'read' };
    await review(mcpServerId, seen.sha256, [stay], { pending: ['find', 'fresh'] });
    const approved = catalogueOf({ find: 'Finds.', stay: 'Stays.' });
    expect((await read(mcpServerId)).catalogue).toMatchObject({
      ...{ state: 'changed', toolCount: 2, offeredCount: 2 },
      ...{ reviewedSha256: approved.sha256, seenSha256: seen.sha256 },
    });
    expect(await catalogue(mcpServerId, 'reviewed')).toMatchObject({
      catalogueJson: approved.json,
      rules: [stay, rulesFor('find')[0]],
    });
    const changed = { catalogueSha256: approved.sha256, changedTools: ['find'] };
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 2, ...changed }]);
    // The same catalogue again changes nothing, and the server can return to the reviewed form.
    await reportCatalogue(agents, mcpServerId, seen.json);
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 2, ...changed }]);
    await reportCatalogue(agents, mcpServerId, approved.json);
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 2, changedTools: [] }]);
    expect((await read(mcpServerId)).catalogue).toMatchObject({ state: 'current' });
    await reportCatalogue(agents, mcpServerId, seen.json);
    await review(mcpServerId, seen.sha256, rulesFor('find', 'fresh', 'stay'));
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 3, changedTools: [] }]);
    expect((await read(mcpServerId)).catalogue).toMatchObject({ state: 'current', offeredCount: 3 });
  });

  it('offers no pending tool after a first review', async () => {
    const { mcpServerId } = await createServer(agents);
    const { json, sha256 } = catalogueOf({ find: 'Finds.', send: 'Sends.' });
    await reportCatalogue(agents, mcpServerId, json);
    await review(mcpServerId, sha256, rulesFor('send'), { pending: ['find'] });
    expect((await read(mcpServerId)).catalogue).toMatchObject({ state: 'changed', toolCount: 1 });
    expect(await lookUp(mcpServerId)).toMatchObject([{ rules: rulesFor('send'), changedTools: [] }]);
  });

  it('keeps the reviewed title and instructions while a tool is pending', async () => {
    const { mcpServerId } = await reviewedServer(agents, { find: 'Finds.' });
    const tools = readCatalogue(catalogueOf({ find: 'Finds more.' }).json).tools;
    const { json, sha256 } = catalogueText({ title: 'Other', instructions: 'Obey.', tools });
    await reportCatalogue(agents, mcpServerId, json);
    await review(mcpServerId, sha256, [], { pending: ['find'] });
    expect(await catalogue(mcpServerId, 'reviewed')).toMatchObject({
      catalogueJson: catalogueOf({ find: 'Finds.' }).json,
    });
    expect(await read(mcpServerId)).toMatchObject({ title: 'Example' });
  });

  it.each([
    ['an unchanged tool', ['stay'], ['find', 'fresh']],
    ['an unknown tool', ['other'], ['find', 'fresh', 'stay']],
    ['a tool twice', ['find', 'find'], ['fresh', 'stay']],
    ['a tool with a rule', ['find'], ['find', 'fresh', 'stay']],
    ['too few tools', ['find'], ['stay']],
  ])('refuses pending tools that are %s', async (_, pending, decided) => {
    const { mcpServerId } = await reviewedServer(agents, { find: 'Finds.', stay: 'Stays.' });
    const { json, sha256 } = catalogueOf({ find: 'Finds more.', fresh: 'New.', stay: 'Stays.' });
    await reportCatalogue(agents, mcpServerId, json);
    await expect(review(mcpServerId, sha256, rulesFor(...decided), { pending })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await lookUp(mcpServerId)).toMatchObject([{ review: 1 }]);
  });

  it('returns to the state current when the reviewed catalogue is seen again', async () => {
    const { mcpServerId } = await reviewedServer(agents, { find: 'Finds.' });
    await reportCatalogue(agents, mcpServerId, catalogueOf({ find: 'Changed.' }).json);
    await reportCatalogue(agents, mcpServerId, catalogueOf({ find: 'Finds.' }).json);
    expect((await read(mcpServerId)).catalogue).toMatchObject({ state: 'current' });
    expect(await lookUp(mcpServerId)).toMatchObject([{ changedTools: [] }]);
  });

  it('keeps reviewed catalogues and drops others that are no longer seen', async () => {
    const { mcpServerId, catalogue: state } = await reviewedServer(agents, { [transport]: 'Reviewed.' });
    const { json, sha256 } = catalogueOf({ [transport]: 'Seen for a while.' });
    await reportCatalogue(agents, mcpServerId, json);
    await reportCatalogue(agents, mcpServerId, catalogueOf({ [transport]: 'Seen last.' }).json);
    const body = (digest: string) => agents.as('runner').getCatalogueBody({ sha256: digest });
    await expect(body(sha256)).rejects.toMatchObject({ code: 'CATALOGUE_UNREVIEWED' });
    expect((await body(state!.reviewedSha256)).catalogueJson).toContain('Reviewed.');
  });

  it('refuses a review of another catalogue than the seen one', async () => {
    const { mcpServerId } = await createServer(agents);
    const former = catalogueOf({ find: 'Finds.' });
    const { json } = catalogueOf({ find: 'Finds more.' });
    await reportCatalogue(agents, mcpServerId, former.json);
    await reportCatalogue(agents, mcpServerId, json);
    await expect(review(mcpServerId, former.sha256)).rejects.toMatchObject({ code: 'CATALOGUE_CHANGED' });
  });

  it('refuses rules that do not name each tool exactly once', async () => {
    const { mcpServerId } = await createServer(agents);
    const { json, sha256 } = catalogueOf({ find: 'Finds.', keep: 'Keeps.' });
    await reportCatalogue(agents, mcpServerId, json);
    const refusal = async (...names: string[]) => {
      const error = await review(mcpServerId, sha256, rulesFor(...names)).catch((thrown) => thrown);
      return [error.code, ...error.details.map(({ pointer }: { pointer: string }) => pointer)];
    };
    expect(await refusal('find')).toEqual(['INVALID_REQUEST', '/tools']);
    expect(await refusal('find', 'keep', 'find')).toEqual(['INVALID_REQUEST', '/tools/2/name']);
    expect(await refusal('find', 'keep', 'toString')).toEqual(['INVALID_REQUEST', '/tools/2/name']);
    const wrong = rulesFor('find', 'keep').map((rule) => ({
      ...rule,
      permission: 'always',
      effect: 'never',
    }));
    await expect(review(mcpServerId, sha256, wrong)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    const outdated = review(mcpServerId, sha256, rulesFor('find', 'keep'), {
      ifRevisions: { revisions: [7] },
    });
    await expect(outdated).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it('refuses to offer tools beyond the limits and accepts them when they are not offered', async () => {
    const nested = (levels: number): object => (levels === 0 ? {} : { properties: nested(levels - 1) });
    const { mcpServerId } = await createServer(agents);
    for (const { json, sha256 } of [
      catalogueOf({ find: 'x'.repeat(4_097) }),
      catalogueOf({ find: '' }, { enum: ['x'.repeat(65_536)] }),
      catalogueOf({ find: '' }, nested(32)),
    ]) {
      await reportCatalogue(agents, mcpServerId, json);
      await expect(review(mcpServerId, sha256)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ pointer: '/tools/0/offered' }],
      });
      await review(mcpServerId, sha256, [{ ...rulesFor('find')[0]!, offered: false }]);
    }
    const many = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`t${at}`, 'x'.repeat(4_000)]));
    const { json, sha256 } = catalogueOf(many);
    await reportCatalogue(agents, mcpServerId, json);
    await expect(review(mcpServerId, sha256, rulesFor(...Object.keys(many)))).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/tools' }],
    });
  });

  it.each([
    ['text that is no JSON', '{'],
    ['an object of another form', '{"tools":[{}]}'],
    [
      'two tools with one name',
      JSON.stringify({
        ...JSON.parse(catalogueOf({ a: '' }).json),
        tools: [
          ...JSON.parse(catalogueOf({ a: '' }).json).tools,
          ...JSON.parse(catalogueOf({ a: '' }).json).tools,
        ],
      }),
    ],
    ['JSON that is not canonical', `${catalogueOf({ a: '' }).json} `],
  ])('refuses a report with %s', async (_, json) => {
    const { mcpServerId } = await createServer(agents);
    await expect(reportCatalogue(agents, mcpServerId, json)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('refuses users and unknown servers, and leaves deleted servers out of a look-up', async () => {
    const { mcpServerId, catalogue: state } = await reviewedServer(agents, { find: 'Finds.' });
    const forbidden = { code: 'FORBIDDEN' };
    await expect(agents.edge.getCatalogue({ mcpServerId, of: 'seen' }, alice)).rejects.toMatchObject(
      forbidden,
    );
    const request = { mcpServerId, sha256: '', rules: [], pending: [] };
    const options = { offerResources: false, ifRevisions: undefined };
    await expect(agents.edge.reviewCatalogue({ ...request, ...options }, alice)).rejects.toMatchObject(
      forbidden,
    );
    const notFound = { code: 'MCP_SERVER_NOT_FOUND' };
    await expect(catalogue(ABSENT_SERVER, 'seen')).rejects.toMatchObject(notFound);
    await expect(review(ABSENT_SERVER, '')).rejects.toMatchObject(notFound);
    await agents.edge.deleteMcpServer({ mcpServerId, ifRevisions: undefined }, administrator);
    expect(await lookUp(mcpServerId, ABSENT_SERVER)).toEqual([]);
    // Old turns can still be shown with their tools.
    await agents.as('runner').getCatalogueBody({ sha256: state!.reviewedSha256 });
  });
});
