import {
  Bot,
  Boxes,
  House,
  KeyRound,
  type LucideIcon,
  MessagesSquare,
  ShieldCheck,
  UserRound,
  Webhook,
} from 'lucide-react';

export interface Place {
  to:
    | '/'
    | '/triggers'
    | '/sessions'
    | '/agents'
    | '/assistants'
    | '/environments'
    | '/tokens'
    | '/administration';
  text: string;
  icon: LucideIcon;
  /** The second key after `g`. */
  key: string;
  /** Who has something there. */
  who?: 'administrators' | 'teams';
}

export const PLACES: readonly Place[] = [
  { to: '/', text: 'Home', icon: House, key: 'h' },
  { to: '/sessions', text: 'Sessions', icon: MessagesSquare, key: 's' },
  { to: '/triggers', text: 'Triggers', icon: Webhook, key: 't' },
  { to: '/agents', text: 'Agents', icon: Bot, key: 'a' },
  { to: '/assistants', text: 'Assistants', icon: UserRound, key: 'i' },
  { to: '/environments', text: 'Environments', icon: Boxes, key: 'e', who: 'administrators' },
  { to: '/tokens', text: 'Tokens', icon: KeyRound, key: 'k', who: 'teams' },
  { to: '/administration', text: 'Administration', icon: ShieldCheck, key: 'd', who: 'administrators' },
];

export function placesFor(viewer: { isTeam: boolean; isAdministrator: boolean }): Place[] {
  return PLACES.filter(({ who }) => {
    if (who === 'administrators') return viewer.isAdministrator;
    return who !== 'teams' || viewer.isTeam;
  });
}
