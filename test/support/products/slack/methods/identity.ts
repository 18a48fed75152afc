import { SlackError } from '../error.ts';
import { botObject, type Json, userObject } from '../objects.ts';
import type { CallContext, Methods } from './method.ts';

function authTest({ workspace }: CallContext): Json {
  const { app, teamId, domain } = workspace;
  return {
    url: `https://${domain}.slack.com/`,
    team: domain,
    user: app.botName,
    team_id: teamId,
    user_id: app.botUser,
    bot_id: app.botId,
    is_enterprise_install: false,
  };
}

function usersInfo({ workspace, args }: CallContext): Json {
  const user = workspace.users.get(args.text('user') ?? '');
  if (!user) throw new SlackError('user_not_found');
  return { user: userObject(workspace, user) };
}

function botsInfo({ workspace, args }: CallContext): Json {
  if (args.text('bot') !== workspace.app.botId) throw new SlackError('bot_not_found');
  return { bot: botObject(workspace) };
}

function connectionsOpen({ workspace, sockets, socketUrl, overrides }: CallContext): Json {
  const query = new URLSearchParams({ ticket: sockets.issueTicket(), app_id: workspace.app.appId });
  return { url: overrides.socketUrl ?? `${socketUrl}/link/?${query}` };
}

export const identityMethods: Methods = {
  'auth.test': { token: 'bot', run: authTest },
  'users.info': { token: 'bot', scope: () => 'users:read', run: usersInfo },
  'bots.info': { token: 'bot', scope: () => 'users:read', run: botsInfo },
  'apps.connections.open': { token: 'app', run: connectionsOpen },
};
