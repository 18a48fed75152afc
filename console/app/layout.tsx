import { Outlet } from '@tanstack/react-router';
import { Menu as Lines, Search, X } from 'lucide-react';
import { useState } from 'react';
import { useViewer } from '../parts/people/viewer.ts';
import { IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { Kbd } from '../ui/kbd.tsx';
import { useArrival } from './arrival.ts';
import { useKeptFocus } from './kept-focus.ts';
import { useGlobalKeys } from './keys.ts';
import { LoginPage } from './login.tsx';
import { Navigation } from './navigation-list.tsx';
import { Offline } from './offline.tsx';
import { Palette } from './palette.tsx';
import { isMac } from './platform.ts';
import { ShortcutSheet } from './sheet.tsx';
import { UserMenu } from './user-menu.tsx';

/** Everything around a page. */
export function Layout() {
  const { isTeam, user } = useViewer();
  return isTeam && !user ? <LoginPage /> : <Frame />;
}

function Frame() {
  const [shown, setShown] = useState<'palette' | 'sheet'>();
  const [isOpen, setOpen] = useState(false);
  const close = () => setShown(undefined);
  useGlobalKeys(setShown);
  useKeptFocus();
  useArrival(() => setOpen(false));
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only rounded-lg bg-accent-fill px-3 py-2 text-white focus:not-sr-only focus:fixed focus:start-2 focus:top-2 focus:z-50"
      >
        Skip to the page
      </a>
      <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface px-3 md:hidden">
        <IconButton
          label={isOpen ? 'Close the menu' : 'Open the menu'}
          icon={isOpen ? <X /> : <Lines />}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        />
        <Brand />
        <Offline brief className="ms-auto" />
        <IconButton label="Search" icon={<Search />} onClick={() => setShown('palette')} />
      </header>
      <aside
        id="navigation"
        className={classes(
          'flex-col border-line bg-surface md:sticky md:top-0 md:flex md:h-dvh md:border-e',
          isOpen ? 'flex border-b' : 'hidden',
        )}
      >
        <div className="hidden px-4 pt-4 pb-3 md:block">
          <Brand />
        </div>
        <div className="hidden px-3 pb-2 md:block">
          <button
            type="button"
            onClick={() => setShown('palette')}
            className="flex h-9 w-full items-center gap-2 rounded-lg border border-line bg-canvas px-2.5 text-muted hover:border-strong-line"
          >
            <Search className="size-4" aria-hidden />
            <span className="flex-1 text-start">Search</span>
            <Kbd>{isMac() ? '⌘K' : 'Ctrl K'}</Kbd>
          </button>
        </div>
        <Navigation />
        <Offline className="px-3 pb-3 max-md:hidden" />
        <UserMenu onShortcuts={() => setShown('sheet')} />
      </aside>
      <main id="main" tabIndex={-1} className="min-w-0 outline-none">
        <Outlet />
      </main>
      <Palette open={shown === 'palette'} onClose={close} />
      <ShortcutSheet open={shown === 'sheet'} onClose={close} />
    </div>
  );
}

function Brand() {
  return (
    <span className="flex items-center gap-2 font-semibold tracking-tight">
      <img src="/icon.svg" alt="" className="size-6" />
      Agent Hosting
    </span>
  );
}
