import {
  BookMarked,
  Bot,
  Boxes,
  House,
  KeyRound,
  type LucideIcon,
  MessagesSquare,
  Plug,
  ShieldCheck,
  UserRound,
  Webhook,
} from 'lucide-react';

export interface NavigationItem {
  to:
    | '/'
    | '/deployments'
    | '/sessions'
    | '/agents'
    | '/assistants'
    | '/environments'
    | '/vaults'
    | '/mcp-servers'
    | '/skills'
    | '/tokens'
    | '/administration';
  text: string;
  icon: LucideIcon;
  /** The second key after `g`. */
  key: string;
  /** Users that see the item; all users when absent. */
  visibleTo?: 'administrators' | 'teams';
}

export const NAVIGATION_ITEMS: readonly NavigationItem[] = [
  { to: '/', text: 'Home', icon: House, key: 'h' },
  { to: '/sessions', text: 'Sessions', icon: MessagesSquare, key: 's' },
  { to: '/deployments', text: 'Deployments', icon: Webhook, key: 't' },
  { to: '/agents', text: 'Agents', icon: Bot, key: 'a' },
  { to: '/assistants', text: 'Assistants', icon: UserRound, key: 'i' },
  { to: '/environments', text: 'Environments', icon: Boxes, key: 'e', visibleTo: 'administrators' },
  { to: '/vaults', text: 'Vaults', icon: KeyRound, key: 'v', visibleTo: 'administrators' },
  { to: '/mcp-servers', text: 'MCP servers', icon: Plug, key: 'm', visibleTo: 'administrators' },
  { to: '/skills', text: 'Skills', icon: BookMarked, key: 'l', visibleTo: 'administrators' },
  { to: '/tokens', text: 'Tokens', icon: KeyRound, key: 'k', visibleTo: 'teams' },
  { to: '/administration', text: 'Administration', icon: ShieldCheck, key: 'd', visibleTo: 'administrators' },
];

export function navigationItemsFor(viewer: { isTeam: boolean; isAdministrator: boolean }): NavigationItem[] {
  return NAVIGATION_ITEMS.filter(({ visibleTo: who }) => {
    if (who === 'administrators') return viewer.isAdministrator;
    return who !== 'teams' || viewer.isTeam;
  });
}
