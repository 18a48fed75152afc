import { Page } from '../../ui/page.tsx';

export function AdministrationPage() {
  return <Page title="Administration">{null}</Page>;
}
