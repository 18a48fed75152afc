import { refuse } from '../../../../lib/errors.ts';
import { callerOf, databaseOptionsOf, hasLogin } from '../../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../../lib/grpc/contract.ts';
import { isId } from '../../../../lib/ids.ts';
import type { DeleteLinkRequest } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { codeDigest } from '../../channels/delivery-results.ts';
import { checkedPage } from '../../domain/deployments.ts';
import type { StoredLink } from '../../store/links.ts';
import type { DeploymentsHandlerContext } from '../context.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  'listLinks' | 'deleteLink' | 'getLinkCode' | 'confirmLink'
>;

/** Accounts of products that belong to users. */
export function linkHandlers(context: DeploymentsHandlerContext): Methods {
  const { access, links, record, clock, ids } = context;

  async function offerOf(code: string, call: Call) {
    callerOf(call);
    // The code is the proof: the offer belongs to no user yet, so it is read as the service.
    const offer = await links.findOffer(codeDigest(code), clock.now(), { trace: call.trace });
    if (!offer) throw linkNotFound();
    return offer;
  }

  /** A link of the caller, or of a person who has talked to a channel that the caller manages. */
  async function findLink({ agentId, deploymentId, linkId }: DeleteLinkRequest, call: Call) {
    const isOwn = agentId === '' && deploymentId === '';
    const found = isOwn ? undefined : await access.findChannel({ agentId, deploymentId }, call);
    if (!isId('lnk', linkId)) throw linkNotFound();
    const link = found
      ? await links.findInChannel(found.deployment.deploymentId, linkId, { trace: call.trace })
      : await links.findOwn(callerOf(call).userId, linkId, databaseOptionsOf(call));
    if (!link) throw linkNotFound();
    return link;
  }

  const recordLink = (action: 'channel.link' | 'channel.unlink', link: StoredLink, call: Call) => {
    const { linkId, provider, team, externalId: external_id, userId: user_id } = link;
    return record({ action, targetId: linkId, data: { provider, team, external_id, user_id } }, call);
  };

  return {
    async listLinks({ agentId, deploymentId, page }, call) {
      const { userId: caller } = callerOf(call);
      const limits = { caller, ...checkedPage(page) };
      if (agentId === '' && deploymentId === '') {
        const { rows, nextCursor } = await links.ofUser(caller, limits, databaseOptionsOf(call));
        return { links: rows, page: { nextCursor } };
      }
      const { deployment } = await access.viewChannel({ agentId, deploymentId }, call);
      // The links belong to other users. The caller may see those of people who have talked to the channel.
      const found = await links.ofChannel(deployment.deploymentId, limits, { trace: call.trace });
      return { links: found.rows, page: { nextCursor: found.nextCursor } };
    },

    async deleteLink(request, call) {
      const link = await findLink(request, call);
      await recordLink('channel.unlink', link, call);
      if (!(await links.remove(link.linkId, { trace: call.trace }))) throw linkNotFound();
      return {};
    },

    getLinkCode: ({ code }, call) => offerOf(code, call),

    async confirmLink({ code }, call) {
      // A stolen token could otherwise link another account, which outlives it.
      if (!hasLogin(callerOf(call)))
        throw refuse('FORBIDDEN', 'Accounts can be linked only with a login, not with a token.');
      const { provider, team, externalId, externalName } = await offerOf(code, call);
      const { userId } = callerOf(call);
      const account = { provider, team, externalId, externalName };
      const now = clock.now();
      const link = { ...account, linkId: ids('lnk'), userId, how: 'confirmed', createdAt: now };
      await recordLink('channel.link', link, call);
      const isConfirmed = await links.confirm(codeDigest(code), link, now, { trace: call.trace });
      if (!isConfirmed) throw linkNotFound();
      return { link };
    },
  };
}

function linkNotFound() {
  return refuse('LINK_NOT_FOUND', 'The link or link code does not exist, was used, or has expired.');
}
