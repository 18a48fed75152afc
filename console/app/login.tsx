import { useSuspenseQuery } from '@tanstack/react-query';
import { LogIn } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { login } from '../api/login.ts';
import { buttonClass } from '../ui/button.tsx';

/** For who has not logged in. Comes back to where they wanted to go. */
export function LoginPage() {
  const { data } = useSuspenseQuery(login);
  const title = useRef<HTMLHeadingElement>(null);
  // It may stand where something else was, which had the focus.
  useEffect(() => title.current?.focus(), []);
  const target = new URLSearchParams({ return_to: location.pathname + location.search });
  return (
    <main className="grid min-h-dvh place-items-center p-6">
      <title>Log in · Agent Hosting Service</title>
      <div className="flex w-full max-w-sm flex-col items-center gap-5 rounded-2xl border border-line bg-surface p-8 text-center">
        <img src="/icon.svg" alt="" className="size-12" />
        <div>
          <h1 ref={title} tabIndex={-1} className="text-xl font-semibold tracking-tight outline-none">
            Agent Hosting Service
          </h1>
          <p className="mt-1 text-muted">Log in with your organisation to go on.</p>
        </div>
        {data.login_url && (
          <a href={`${data.login_url}?${target}`} className={buttonClass('primary')}>
            <LogIn aria-hidden />
            Log in
          </a>
        )}
      </div>
    </main>
  );
}
