"""A model over HTTP, as OpenAI's API has it: `mcprl serve TARGET`, and the same app inside a process for `mcprl.art`.

FastAPI: the pydantic models that check a request also name the field and index of what is wrong in it, and write the
OpenAPI document of the routes.
"""
