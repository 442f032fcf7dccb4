from spacy.tokens import DocBin


def test_documents_keep_all_that_they_carry(export, docs):
    stored = list(DocBin().from_disk(export("a.spacy")).get_docs(docs[0].vocab))
    assert [doc.to_json() for doc in stored] == [doc.to_json() for doc in docs]
