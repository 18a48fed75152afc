import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER, STRANGER } from '../system.ts';
import { asOwner, command, LINKED, openWorkSystem, type WorkSystem } from './work-fixtures.ts';

const LOGIN = { credential: 'lgn_00000000000000000000000001' };
const asLinked = { caller: { userId: LINKED, roles: ['member'], ...LOGIN } };
const asStranger = { caller: { ...STRANGER, ...LOGIN } };
const REFUSED = { result: 'refused', reason: 'not_linked', sessionId: '', turnId: '' };
const OWN = { agentId: '', deploymentId: '', page: undefined };
const MINUTE_MS = 60_000;

describe('links of channels', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments');
    await system.sql('delete from links');
    system.setUser();
    system.fakes.auditLog.takeActs();
  });

  /** Sends a message and returns the code that its sender gets. */
  async function offer(channel: string, senderId = 'U1'): Promise<string> {
    const { worker } = system;
    await system.receive(channel, { senderId });
    const [work] = await worker.claimDeliveries();
    expect(await worker.finish(work!, { ...REFUSED, offerLink: true })).toEqual({ linkNotice: '' });
    const [conversation] = await worker.claimConversations();
    const post = conversation?.posts.findLast(({ privateTo }) => privateTo === senderId);
    const [, code = ''] = /https:\/\/agents\.example\.org\/link\/(\S+)$/.exec(post?.text ?? '') ?? [];
    expect(Buffer.from(code, 'base64url')).toHaveLength(16);
    await worker.note(conversation!, { postId: post!.postId, state: 'posted', externalId: 'M1' });
    await worker.release(conversation!);
    return code;
  }

  const notFound = { code: 'LINK_NOT_FOUND' };

  it('are shown and confirmed once by the user who opens the code', async () => {
    const channel = await system.createChannel();
    const code = await offer(channel);
    expect(await system.edge.getLinkCode({ code }, asLinked)).toMatchObject({
      ...{
        provider: 'http',
        team: channel,
        externalId: 'U1',
        externalName: 'Uma',
        deploymentName: 'Support',
      },
      expiresAt: new Date(system.clock.now().getTime() + 10 * MINUTE_MS),
    });
    system.fakes.auditLog.takeActs();
    const { link } = await system.edge.confirmLink({ code }, asLinked);
    expect(link).toMatchObject({ userId: LINKED, externalId: 'U1', how: 'confirmed' });
    expect(system.fakes.auditLog.takeActs()).toEqual([`${LINKED} channel.link ${link?.linkId}`]);
    await expect(system.edge.confirmLink({ code }, asLinked)).rejects.toMatchObject(notFound);
    await expect(system.edge.getLinkCode({ code }, asStranger)).rejects.toMatchObject(notFound);
    await system.receive(channel);
    expect(await system.worker.accept()).toMatchObject({ accessRefusal: '', userId: LINKED });
  });

  it('are not confirmed with a token, which a thief could use', async () => {
    const code = await offer(await system.createChannel());
    const asToken = { caller: { ...asLinked.caller, credential: 'tok_00000000000000000000000001' } };
    await expect(system.edge.confirmLink({ code }, asToken)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await system.edge.confirmLink({ code }, asLinked)).toMatchObject({ link: { userId: LINKED } });
  });

  it('are confirmed by one of two users who open the code at the same time', async () => {
    const code = await offer(await system.createChannel());
    const confirm = (caller: typeof asLinked) => system.edge.confirmLink({ code }, caller);
    const outcomes = await Promise.allSettled([confirm(asLinked), confirm(asStranger)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('cannot be confirmed after ten minutes, after a newer offer, or with an unknown code', async () => {
    const channel = await system.createChannel();
    const first = await offer(channel);
    const second = await offer(channel);
    const other = await offer(channel, 'U2');
    await expect(system.edge.confirmLink({ code: first }, asLinked)).rejects.toMatchObject(notFound);
    system.clock.advance(10 * MINUTE_MS - 1);
    expect(await system.edge.getLinkCode({ code: other }, asLinked)).toMatchObject({ externalId: 'U2' });
    system.clock.advance(1);
    for (const code of [second, other, '', 'x'.repeat(5_000)])
      await expect(system.edge.confirmLink({ code }, asLinked)).rejects.toMatchObject(notFound);
  });

  it('are stored as digests alone, and the posted text is erased', async () => {
    const code = await offer(await system.createChannel());
    const [row] = await system.sql<{ text: string }>(
      `select (select string_agg(k::text, ' ') from link_codes k) || coalesce((select string_agg(p::text, ' ') from posts p), '')
         as text`,
    );
    expect(row?.text).not.toContain(code);
    expect(row?.text).not.toContain(Buffer.from(code).toString('hex'));
  });

  it('are offered in the answer to a command, with a new code for a repeated report', async () => {
    const channel = await system.createChannel();
    await system.receive(channel, { ...command('link'), answerToken: 'token' });
    const [work] = await system.worker.claimDeliveries();
    const finish = () =>
      system.worker.finish(work!, { result: 'accepted', sessionId: '', turnId: '', offerLink: true });
    const codeOf = ({ linkNotice }: { linkNotice: string }) => linkNotice.split('/').at(-1) ?? '';
    const first = codeOf(await finish());
    const second = codeOf(await finish());
    await expect(system.edge.getLinkCode({ code: first }, asLinked)).rejects.toMatchObject(notFound);
    await expect(system.edge.getLinkCode({ code: second }, asLinked)).resolves.toBeDefined();
    expect(await system.posts(channel)).toEqual([]);
  });

  it('are listed by their user, and by managers for people who have talked to the channel', async () => {
    const channel = await system.createChannel();
    const linkId = await system.link(channel);
    await system.link(channel, 'U2', STRANGER.userId);
    await system.receive(channel);
    await system.worker.accept();
    expect((await system.edge.listLinks(OWN, asLinked)).links).toMatchObject([{ linkId }]);
    const ofChannel = { agentId: '', deploymentId: channel, page: undefined };
    expect((await system.edge.listLinks(ofChannel, asOwner)).links).toMatchObject([
      { linkId, userId: LINKED },
    ]);
    await expect(system.edge.listLinks(ofChannel, asLinked)).rejects.toMatchObject({
      code: 'DEPLOYMENT_NOT_FOUND',
    });
  });

  it('are removed by their user, by a manager of the channel, and in the product', async () => {
    const channel = await system.createChannel();
    await system.receive(channel);
    await system.link(channel);
    await system.worker.accept();
    system.fakes.auditLog.takeActs();
    const own = (linkId: string) => ({ agentId: '', deploymentId: '', linkId });
    let linkId = await system.link(channel, 'U5');
    await expect(system.edge.deleteLink(own(linkId), asStranger)).rejects.toMatchObject(notFound);
    await system.edge.deleteLink(own(linkId), asLinked);
    await expect(system.edge.deleteLink(own(linkId), asLinked)).rejects.toMatchObject(notFound);

    const [link] = (await system.edge.listLinks(OWN, asLinked)).links;
    linkId = link?.linkId ?? '';
    const reference = { agentId: '', deploymentId: channel };
    await system.edge.deleteLink({ ...reference, linkId }, asOwner);

    linkId = await system.link(channel);
    await system.receive(channel, command('unlink'));
    const [work] = await system.worker.claimDeliveries();
    await system.worker.finish(work!, { sessionId: '', turnId: '', removeLink: true });
    expect(system.fakes.auditLog.takeActs()).toMatchObject([
      expect.stringContaining(`${LINKED} channel.unlink`),
      expect.stringContaining(`${OWNER.userId} channel.unlink`),
      `${LINKED} channel.unlink ${linkId}`,
    ]);
    await system.receive(channel);
    expect(await system.worker.accept()).toMatchObject({ accessRefusal: 'not_linked' });
  });

  it('of people who have not talked to the channel cannot be removed by its managers', async () => {
    const channel = await system.createChannel();
    const linkId = await system.link(channel);
    const reference = { agentId: '', deploymentId: channel };
    await expect(system.edge.deleteLink({ ...reference, linkId }, asOwner)).rejects.toMatchObject(notFound);
  });
});
