import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, CircleUserRound, Keyboard, Link2, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { endLogin } from '../api/login.ts';
import { messageOf } from '../parts/errors/error-state.tsx';
import { EndedConnections } from '../parts/users/ended-connections.tsx';
import { useViewer } from '../parts/users/viewer.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toast.tsx';
import { chooseTheme, type Theme, useTheme } from './theme.ts';

const THEMES: readonly { theme: Theme; text: string; icon: typeof Sun }[] = [
  { theme: 'system', text: 'System theme', icon: Monitor },
  { theme: 'light', text: 'Light theme', icon: Sun },
  { theme: 'dark', text: 'Dark theme', icon: Moon },
];

/** Menu with the user's name, the connections, the theme, keyboard shortcuts and logout. */
export function UserMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { user, isTeam } = useViewer();
  const theme = useTheme();
  const queries = useQueryClient();
  const navigate = useNavigate();
  async function logOut() {
    try {
      const { end_session_url: end } = await endLogin();
      queries.clear();
      location.assign(end ?? '/');
    } catch (error) {
      toast.failed('Logout failed.', messageOf(error));
    }
  }
  const name = isTeam ? user?.display_name || user?.email || 'You' : 'Local mode';
  const trigger = (
    <button
      type="button"
      className="flex w-full items-center gap-2.5 rounded-lg px-2.5 py-2 text-start hover:bg-sunken"
    >
      <CircleUserRound className="size-5 shrink-0 text-muted" aria-hidden />
      <span className="min-w-0 flex-1 truncate" dir="auto" title={name}>
        {name}
      </span>
      <EndedConnections />
    </button>
  );
  return (
    <div className="border-t border-line p-3">
      <Menu trigger={trigger}>
        <MenuItem icon={<Link2 />} onSelect={() => void navigate({ to: '/connections' })}>
          Connections
        </MenuItem>
        {THEMES.filter((one) => one.theme !== theme).map(({ theme: other, text, icon: Icon }) => (
          <MenuItem key={other} icon={<Icon />} onSelect={() => chooseTheme(other)}>
            {text}
          </MenuItem>
        ))}
        <MenuItem icon={<Keyboard />} onSelect={onShortcuts}>
          Keyboard shortcuts
        </MenuItem>
        <MenuItem icon={<BookOpen />} onSelect={() => location.assign('/docs')}>
          API reference
        </MenuItem>
        {isTeam && (
          <MenuItem icon={<LogOut />} onSelect={() => void logOut()}>
            Log out
          </MenuItem>
        )}
      </Menu>
    </div>
  );
}
