"""Commits and pull requests on the repository of a site: the service, the forges behind it, and who asks it."""
