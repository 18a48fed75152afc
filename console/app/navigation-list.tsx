import { Link } from '@tanstack/react-router';
import { useViewer } from '../parts/users/viewer.ts';
import { navigationItemsFor } from './navigation.ts';

export function NavigationList() {
  const viewer = useViewer();
  return (
    <nav aria-label="Main" className="flex-1 overflow-y-auto px-3 py-2">
      <ul className="flex flex-col gap-0.5">
        {navigationItemsFor(viewer).map(({ to, text, icon: Icon }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className="flex h-9 items-center gap-2.5 rounded-lg px-2.5 text-muted hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
            >
              <Icon className="size-4" aria-hidden />
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
