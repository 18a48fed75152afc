import { Outlet } from '@tanstack/react-router';
import { Menu as MenuIcon, Search, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { loadChunk } from '../parts/navigation/load-chunk.ts';
import { useViewer } from '../parts/users/viewer.ts';
import { IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { Kbd } from '../ui/kbd.tsx';
import { ConnectionNotice } from './connection-notice.tsx';
import { useGlobalShortcuts } from './global-shortcuts.ts';
import { LoginPage } from './login.tsx';
import { NavigationList } from './navigation-list.tsx';
import { isMac } from './platform.ts';
import { useFocusRecovery } from './use-focus-recovery.ts';
import { useTitleFocus } from './use-title-focus.ts';
import { UserMenu } from './user-menu.tsx';

const Palette = lazy(async () => ({
  default: (await loadChunk(() => import('./palette.tsx'))).Palette,
}));
const ShortcutSheet = lazy(async () => ({
  default: (await loadChunk(() => import('./shortcut-sheet.tsx'))).ShortcutSheet,
}));
/** Loads the palette before it is opened. It is not part of the first load. */
const preloadPalette = () => void import('./palette.tsx').catch(() => {});

/** The frame around every page: navigation, search and dialogs. */
export function Layout() {
  return useViewer().isLoginRequired ? <LoginPage /> : <Frame />;
}

function Frame() {
  const [shown, setShown] = useState<'palette' | 'sheet'>();
  const [isOpen, setOpen] = useState(false);
  const [opened, setOpened] = useState<readonly string[]>([]);
  if (shown && !opened.includes(shown)) setOpened([...opened, shown]);
  const close = () => setShown(undefined);
  useGlobalShortcuts(setShown);
  usePalettePreload();
  useFocusRecovery();
  useTitleFocus(() => setOpen(false));
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only rounded-lg bg-accent-fill px-3 py-2 text-white focus:not-sr-only focus:fixed focus:start-2 focus:top-2 focus:z-50"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface px-3 md:hidden">
        <IconButton
          label={isOpen ? 'Close menu' : 'Open menu'}
          icon={isOpen ? <X /> : <MenuIcon />}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        />
        <Brand />
        <ConnectionNotice brief className="ms-auto" />
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
            onPointerEnter={preloadPalette}
            onFocus={preloadPalette}
            className="flex h-9 w-full items-center gap-2 rounded-lg border border-line bg-canvas px-2.5 text-muted hover:border-strong-line"
          >
            <Search className="size-4" aria-hidden />
            <span className="flex-1 text-start">Search</span>
            <Kbd>{isMac() ? '⌘K' : 'Ctrl K'}</Kbd>
          </button>
        </div>
        <NavigationList />
        <ConnectionNotice className="px-3 pb-3 max-md:hidden" />
        <UserMenu onShortcuts={() => setShown('sheet')} />
      </aside>
      <main id="main" tabIndex={-1} className="min-w-0 outline-none">
        <Outlet />
      </main>
      <Suspense fallback={null}>
        {opened.includes('palette') && <Palette open={shown === 'palette'} onClose={close} />}
        {opened.includes('sheet') && <ShortcutSheet open={shown === 'sheet'} onClose={close} />}
      </Suspense>
    </div>
  );
}

/** Loads the palette with the first key of its shortcut, Ctrl or Command. */
function usePalettePreload(): void {
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Control' || key === 'Meta') preloadPalette();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

function Brand() {
  return (
    <span className="flex items-center gap-2 font-semibold tracking-tight">
      <img src="/icon.svg" alt="" className="size-6" />
      Agent Hosting
    </span>
  );
}
