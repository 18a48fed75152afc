-- The extensions of an agent show whether the newest review of a server offers its resources.
create policy of_everybody on mcp_reviews for select to ahs_agents_viewer using (true);
grant select (mcp_server_id, review, offer_resources) on mcp_reviews to ahs_agents_viewer;
