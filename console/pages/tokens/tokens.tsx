import { Page } from '../../ui/page.tsx';

export function TokensPage() {
  return <Page title="Tokens">{null}</Page>;
}
