import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Bot, Link2, type LucideIcon, MessagesSquare, Moon, Sun, Webhook } from 'lucide-react';
import { useDeferredValue } from 'react';
import { agents } from '../api/agents.ts';
import { deployments } from '../api/deployments.ts';
import { sessions } from '../api/sessions.ts';
import { useViewer } from '../parts/users/viewer.ts';
import { navigationItemsFor } from './navigation.ts';
import { chooseTheme } from './theme.ts';

export interface PaletteCommand {
  id: string;
  icon: LucideIcon;
  text: string;
  /** Distinguishes commands with the same text: a shortcut or an id. */
  detail: string;
  run: () => void;
}

interface CommandGroup {
  value: string;
  items: PaletteCommand[];
}

/** Maximum number of search results per kind. */
const RESULTS_PER_KIND = 6;
const SESSION_ID = /^ses_[0-9A-Z]{26}$/;
const AGENT_ID = /^agt_[0-9A-Z]{26}$/;

/** Commands that match a text: pages and actions by name, and search results of the service. */
export function usePaletteCommands(text: string): { groups: CommandGroup[]; isSearching: boolean } {
  const q = useDeferredValue(text.trim());
  const navigate = useNavigate();
  const viewer = useViewer();
  const enabled = q.length > 0;
  const foundAgents = useInfiniteQuery({ ...agents.list(q), enabled });
  const foundSessions = useInfiniteQuery({ ...sessions.list({ q }), enabled, refetchInterval: false });
  const foundDeployments = useInfiniteQuery({ ...deployments.list({ q }), enabled });
  const first = <Item>(query: { data?: { pages: { items: Item[] }[] } | undefined }) =>
    enabled ? (query.data?.pages[0]?.items.slice(0, RESULTS_PER_KIND) ?? []) : [];

  const toAgent = (agentId: string) => void navigate({ to: '/agents/$agentId', params: { agentId } });
  const toSession = (sessionId: string) =>
    void navigate({ to: '/sessions/$sessionId', params: { sessionId } });

  const actions: PaletteCommand[] = [
    ...navigationItemsFor(viewer).map(({ to, text: name, icon, key }) => ({
      id: to,
      icon,
      text: name,
      detail: `g ${key}`,
      run: () => void navigate({ to }),
    })),
    {
      id: 'new-agent',
      icon: Bot,
      text: 'New agent',
      detail: '',
      run: () => void navigate({ to: '/agents/new' }),
    },
    {
      id: 'new-deployment',
      icon: Webhook,
      text: 'New deployment',
      detail: '',
      run: () => void navigate({ to: '/deployments/new' }),
    },
    {
      id: 'connections',
      icon: Link2,
      text: 'Connections',
      detail: '',
      run: () => void navigate({ to: '/connections' }),
    },
    { id: 'light', icon: Sun, text: 'Light theme', detail: '', run: () => chooseTheme('light') },
    { id: 'dark', icon: Moon, text: 'Dark theme', detail: '', run: () => chooseTheme('dark') },
  ];
  const ids: PaletteCommand[] = [];
  if (SESSION_ID.test(q))
    ids.push({ id: q, icon: MessagesSquare, text: 'Open the session', detail: q, run: () => toSession(q) });
  if (AGENT_ID.test(q))
    ids.push({ id: q, icon: Bot, text: 'Open the agent', detail: q, run: () => toAgent(q) });

  const lower = q.toLowerCase();
  const groups: CommandGroup[] = [
    { value: 'By ID', items: ids },
    { value: 'Go to', items: actions.filter((command) => command.text.toLowerCase().includes(lower)) },
    {
      value: 'Agents',
      items: first(foundAgents).map(({ agent_id: id, name }) => ({
        id,
        icon: Bot,
        text: name,
        detail: id,
        run: () => toAgent(id),
      })),
    },
    {
      value: 'Sessions',
      items: first(foundSessions).map(({ session_id: id, title }) => ({
        id,
        icon: MessagesSquare,
        text: title ?? 'Untitled',
        detail: id,
        run: () => toSession(id),
      })),
    },
    {
      value: 'Deployments',
      items: first(foundDeployments).map(
        ({ deployment_id: id, agent_id: agentId, agent_name: agent, ...rest }) => ({
          id,
          icon: Webhook,
          text: rest.type === 'schedule' ? rest.name : (agent ?? 'Deleted agent'),
          detail: id,
          run: () =>
            void navigate({
              to: '/deployments/$agentId/$deploymentId',
              params: { agentId, deploymentId: id },
            }),
        }),
      ),
    },
  ];
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    isSearching: [foundAgents, foundSessions, foundDeployments].some(({ isFetching }) => isFetching),
  };
}
