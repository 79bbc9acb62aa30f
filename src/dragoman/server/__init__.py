"""The service: translation over HTTP, as the clients of the LibreTranslate API expect it, and more under /v1."""
