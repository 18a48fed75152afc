import { useSuspenseQuery } from '@tanstack/react-query';
import { LogIn } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { login } from '../api/login.ts';
import { buttonClass } from '../ui/button.tsx';

/** Login page for users without a login. After the login the browser returns to the requested page. */
export function LoginPage() {
  const { data } = useSuspenseQuery(login);
  const title = useRef<HTMLHeadingElement>(null);
  // The page may replace another one whose focused element is gone.
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
          <p className="mt-1 text-muted">Log in with your organization’s account to continue.</p>
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
